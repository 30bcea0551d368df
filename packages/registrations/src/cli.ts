import type { Command } from '@commander-js/extra-typings';
import { answering, loadSettings, tableOf, withDatabase, type Answer, type Cli } from '@floodgate/command';
import type { Difference } from './reconcile/reconcile.ts';

export { addQueueCommands } from './finalize/queue-commands.ts';
export { addRedriveCommand } from './finalize/redrive-command.ts';
export { addRegistrationCommands } from './list/command.ts';

/** Differences that a person is shown. More do not help; --json has them all. */
const SHOWN = 100;

/** `floodgate reconcile` */
export function addReconcileCommand(program: Command, cli: Cli): void {
  const command = program
    .command('reconcile')
    .description(
      `prove that seats, registrations and batches agree; exit 1 where they do not. Shows up to ${SHOWN} differences, --json all`,
    );
  answering(command, cli, async () => {
    const { reconcile, UNREAD } = await import('./reconcile/reconcile.ts');
    const { readBacklog } = await import('./finalize/batch-statements.ts');
    const { databaseUrl } = await loadSettings(cli.env);
    // It reads every registration, so it may take as long as it takes.
    return withDatabase(databaseUrl, null, async (db) => {
      const differences = await reconcile(db);
      const unread = differences.filter(({ problem }) => problem === UNREAD).length;
      return reconciliation(differences, unread, (await readBacklog(db)).failedBatches);
    });
  });
}

function reconciliation(differences: readonly Difference[], unread: number, failedBatches: number): Answer {
  const balanced = differences.length === 0;
  const more = differences.length - SHOWN;
  const lines = balanced
    ? ['balanced: seats, registrations and batches agree, and no batch was forgotten']
    : [tableOf(differences.slice(0, SHOWN))];
  if (more > 0) lines.push(`… and ${more} more; --json lists them all`);
  if (failedBatches > 0) lines.push(`failed batches, which keep their seats: ${failedBatches}; see redrive`);
  return {
    document: { balanced, differences, failedBatches },
    text: lines.join('\n'),
    ...(!balanced && { failure: imbalanceText(differences, unread) }),
  };
}

/** How many differences there are, and shards whose books nobody could read. */
function imbalanceText({ length }: readonly Difference[], unread: number): string {
  const found = length - unread;
  return [
    ...(found > 0 ? [`not balanced: ${found} found`] : []),
    ...(unread > 0 ? [`shards that do not answer: ${unread}`] : []),
  ].join('; ');
}
