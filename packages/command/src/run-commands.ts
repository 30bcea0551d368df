import { userInfo } from 'node:os';
import type { Command, OptionValues } from '@commander-js/extra-typings';
import type { Database } from '@floodgate/database';
import { Failure } from '@floodgate/service/failure';
import { parseText } from './arguments.ts';
import type { Answer } from './output.ts';

// The program defines all commands at its start. A command imports the modules for its work only when it
// runs: loading them takes ten times as long as all the definitions.

const STATEMENT_TIMEOUT_MS = 30_000;

/** The dependencies of the commands. */
export interface Cli {
  env: NodeJS.ProcessEnv;
  stdout: { write(text: string): unknown };
  /** `isTTY`: somebody watches, so a command can show its progress. */
  stderr: { write(text: string): unknown; isTTY?: boolean };
}

/** Reads the environment. Rejects with ConfigError, which names missing and invalid variables. */
export const loadSettings = async (env: NodeJS.ProcessEnv, needsQueue = false) =>
  (await import('./read-settings.ts')).readSettings(env, needsQueue);

export type CliSettings = Awaited<ReturnType<typeof loadSettings>>;

/** Opens the database for `work` and closes it afterwards. `statementTimeoutMs` null: no limit. */
export async function withDatabase<Result>(
  connectionString: string,
  statementTimeoutMs: number | null,
  work: (db: Database) => Promise<Result>,
) {
  const { connect } = await import('@floodgate/database/connection/connect');
  const limits = { maxConnections: 2, ...(statementTimeoutMs && { statementTimeoutMs }) };
  await using db = connect({ connectionString, applicationName: 'floodgate-cli', ...limits });
  return await work(db);
}

/** Makes a command run `work` with its parsed options, and print the answer. */
export function onRun<Options extends OptionValues>(
  command: Command<unknown[], Options>,
  cli: Cli,
  work: (options: Options) => Promise<Answer>,
) {
  const withJson = command.option('--json', 'print one JSON document');
  withJson.action(async () => {
    const answer = await work(command.opts());
    const isJson = 'json' in withJson.opts();
    const document = JSON.stringify(answer.document, null, answer.isLine ? undefined : 2);
    cli.stdout.write(`${isJson ? document : answer.text}\n`);
    if (answer.failure !== undefined) throw new Failure(answer.failure);
  });
}

/** Like `onRun`, for work on the database of DATABASE_URL, which is open only during the work. */
export function onDatabaseRun(
  command: Command<unknown[]>,
  cli: Cli,
  work: (db: Database) => Promise<Answer>,
) {
  onRun(command, cli, async () => {
    const { databaseUrl } = await loadSettings(cli.env);
    return withDatabase(databaseUrl, STATEMENT_TIMEOUT_MS, work);
  });
}

/**
 * Like `onDatabaseRun`, for changes. The audit log names `actor`: see `operatorName`.
 */
export function onChangeRun(
  command: Command<unknown[]>,
  cli: Cli,
  work: (db: Database, actor: string) => Promise<Answer>,
) {
  const signed = withSignature(command);
  onDatabaseRun(signed, cli, (db) => work(db, operatorName(signed.opts().by)));
}

const BY = 'name for the audit log; by default the user of this machine';

/** Adds the option --by to a command. */
export const withSignature = <Args extends unknown[], Options extends OptionValues>(
  command: Command<Args, Options>,
) => command.option('--by <who>', BY, parseText);

/** Returns the name for the audit log: --by, or the user of the operating system. */
export const operatorName = (by: string | undefined) => by ?? userName();

/** Returns the name of the user who runs this process. In a container the user may have none. */
function userName() {
  try {
    return userInfo().username;
  } catch {
    return `user ${process.getuid?.()}`;
  }
}
