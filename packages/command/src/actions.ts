import type { Command } from 'commander';
import type { Database } from '@floodgate/database';
import type { Cli } from './cli.ts';
import { Failure } from './failures.ts';
import type { Answer } from './output.ts';
import { loadSettings } from './settings.ts';

const STATEMENT_TIMEOUT_MS = 30_000;

/**
 * Makes a command do `work`, with the options and arguments as its parsers left them, and print its answer.
 * Commander knows no types, so each command says what its own parsers make: hence `never`.
 */
export function answering(
  command: Command,
  cli: Cli,
  work: (options: never, ...args: never[]) => Promise<Answer>,
): void {
  command.option('--json', 'print one JSON document').action(async () => {
    const { json, ...options } = command.opts<{ json?: true }>();
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    const answer = await work(options as never, ...(command.processedArgs as never[]));
    cli.stdout.write(`${json ? JSON.stringify(answer.document, null, 2) : answer.text}\n`);
    if (answer.failure !== undefined) throw new Failure(answer.failure);
  });
}

/** The same for work on the database of DATABASE_URL, which is open only that long. */
export function answeringFromDatabase(
  command: Command,
  cli: Cli,
  work: (db: Database, options: never, ...args: never[]) => Promise<Answer>,
): void {
  answering(command, cli, (options, ...args) => {
    const { databaseUrl } = loadSettings(cli.env);
    return withDatabase(cli, databaseUrl, STATEMENT_TIMEOUT_MS, (db) => work(db, options, ...args));
  });
}

/** Opens the database for `work` and closes it afterwards. `statementTimeoutMs` null: as long as it takes. */
export async function withDatabase<Result>(
  cli: Cli,
  connectionString: string,
  statementTimeoutMs: number | null,
  work: (db: Database) => Promise<Result>,
): Promise<Result> {
  const db = cli.connect({
    connectionString,
    applicationName: 'floodgate-cli',
    maxConnections: 2,
    ...(statementTimeoutMs !== null && { statementTimeoutMs }),
  });
  try {
    return await work(db);
  } finally {
    await db.destroy();
  }
}
