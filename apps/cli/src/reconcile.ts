import type { Command } from 'commander';
import { reconcile } from '@floodgate/database';
import { answering, withDatabase } from './actions.ts';
import type { Cli } from './cli.ts';
import { table } from './output.ts';
import { loadSettings } from './settings.ts';

/** `floodgate reconcile` */
export function addReconcileCommand(program: Command, cli: Cli): void {
  const command = program
    .command('reconcile')
    .description('prove that seats, registrations and batches agree; exit 1 where they do not');
  answering(command, cli, async () => {
    // It reads every registration, so it may take as long as it takes.
    const differences = await withDatabase(cli, loadSettings(cli.env).databaseUrl, null, reconcile);
    const balanced = differences.length === 0;
    return {
      document: { balanced, differences },
      text: balanced
        ? 'balanced: seats, registrations and batches agree, and no batch was forgotten'
        : table(
            ['subject', 'problem'],
            differences.map((row) => [row.subject, row.problem]),
          ),
      ...(!balanced && { failure: `not balanced: ${differences.length} found` }),
    };
  });
}
