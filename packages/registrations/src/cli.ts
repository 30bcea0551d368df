import type { Command } from '@commander-js/extra-typings';
import { answering, loadSettings, tableOf, withDatabase, type Cli } from '@floodgate/command';

export { addQueueCommands, addRedriveCommand, addStatusCommand } from './finalize/commands.ts';
export { addRegistrationCommands } from './list/command.ts';

/** Differences in the text output. More do not help an operator, and --json has them all. */
const SHOWN = 100;

/** `floodgate reconcile` */
export function addReconcileCommand(program: Command, cli: Cli) {
  const command = program
    .command('reconcile')
    .description(
      `prove that seats, registrations and batches agree; exit 1 if they do not. Shows up to ${SHOWN} differences, --json all`,
    );
  answering(command, cli, async () => {
    const { reconcile, UNREAD } = await import('./reconcile/reconcile.ts');
    const { readBacklog } = await import('./finalize/backlog.ts');
    const { databaseUrl } = await loadSettings(cli.env);
    // No statement timeout, because it reads every registration.
    return withDatabase(databaseUrl, null, async (db) => {
      const differences = await reconcile(db);
      const { failedBatches } = await readBacklog(db);
      const balanced = differences.length === 0;
      const more = differences.length - SHOWN;
      const unread = differences.filter(({ problem }) => problem === UNREAD).length;
      const found = differences.length - unread;
      const lines = [
        balanced
          ? 'balanced: seats, registrations and batches agree, and no batch was forgotten'
          : tableOf(differences.slice(0, SHOWN)),
        more > 0 && `… and ${more} more; --json lists them all`,
        failedBatches > 0 && `failed batches, which keep their seats: ${failedBatches}; see redrive`,
      ];
      const failures = [
        found > 0 && `not balanced: ${found} found`,
        unread > 0 && `shards that do not answer: ${unread}`,
      ];
      return {
        document: { balanced, differences, failedBatches },
        text: lines.filter(Boolean).join('\n'),
        ...(!balanced && { failure: failures.filter(Boolean).join('; ') }),
      };
    });
  });
}
