import type { Command } from '@commander-js/extra-typings';
import type { Difference } from './reconcile.ts';
import { answering, loadSettings, table, withDatabase, type Answer, type Cli } from '@floodgate/command';

/** More do not help a person; --json has them all. */
const SHOWN = 100;

/** `floodgate reconcile` */
export function addReconcileCommand(program: Command, cli: Cli): void {
  const command = program
    .command('reconcile')
    .description(
      `prove that seats, registrations and batches agree; exit 1 where they do not. Shows up to ${SHOWN} differences, --json all`,
    );
  answering(command, cli, async () => {
    const { reconcile } = await import('./reconcile.ts');
    const { readBacklog } = await import('../finalize/read-backlog.ts');
    const { databaseUrl } = await loadSettings(cli.env);
    // It reads every registration, so it may take as long as it takes.
    return withDatabase(databaseUrl, null, async (db) =>
      answerOf(await reconcile(db), (await readBacklog(db)).failedBatches),
    );
  });
}

function answerOf(differences: readonly Difference[], failedBatches: number): Answer {
  const balanced = differences.length === 0;
  const lines = balanced
    ? ['balanced: seats, registrations and batches agree, and no batch was forgotten']
    : [listText(differences)];
  if (failedBatches > 0) lines.push(`failed batches, which keep their seats: ${failedBatches}; see redrive`);
  return {
    document: { balanced, differences, failedBatches },
    text: lines.join('\n'),
    ...(!balanced && { failure: `not balanced: ${differences.length} found` }),
  };
}

function listText(differences: readonly Difference[]): string {
  const rows = differences.slice(0, SHOWN).map(({ subject, problem }) => [subject, problem]);
  const more = differences.length - rows.length;
  const list = table(['subject', 'problem'], rows);
  return more > 0 ? `${list}\n… and ${more} more; --json lists them all` : list;
}
