import type { Command } from '@commander-js/extra-typings';
import type { Difference } from './reconcile.ts';
import { answering, withDatabase, type Cli, table, loadSettings } from '@floodgate/command';

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
    const { databaseUrl } = await loadSettings(cli.env);
    // It reads every registration, so it may take as long as it takes.
    const { readBacklog } = await import('../finalize/read-backlog.ts');
    const [differences, { failedBatches }] = await withDatabase(
      databaseUrl,
      null,
      async (db) => [await reconcile(db), await readBacklog(db)] as const,
    );
    const balanced = differences.length === 0;
    const text = balanced
      ? 'balanced: seats, registrations and batches agree, and no batch was forgotten'
      : listText(differences);
    return {
      document: { balanced, differences, failedBatches },
      text:
        failedBatches > 0
          ? `${text}\nfailed batches, which keep their seats: ${failedBatches}; see redrive`
          : text,
      ...(!balanced && { failure: `not balanced: ${differences.length} found` }),
    };
  });
}

function listText(differences: readonly Difference[]): string {
  const rows = differences.slice(0, SHOWN).map(({ subject, problem }) => [subject, problem]);
  const more = differences.length - rows.length;
  const list = table(['subject', 'problem'], rows);
  return more > 0 ? `${list}\n… and ${more} more; --json lists them all` : list;
}
