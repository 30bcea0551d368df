import { userInfo } from 'node:os';
import type { Command, CommandUnknownOpts, OptionValues } from '@commander-js/extra-typings';
import type { Database } from '@floodgate/database';
import { Failure, InvalidInput } from '@floodgate/service/failure';
import { parseText } from './arguments.ts';
import { words, type Answer } from './output.ts';

// A command is defined when the program starts, but imports what its work needs only when it is run: loading that takes
// ten times as long as all the definitions.

const STATEMENT_TIMEOUT_MS = 30_000;

/** The dependencies of the commands. */
export interface Cli {
  env: NodeJS.ProcessEnv;
  stdout: { write(text: string): unknown };
  stderr: { write(text: string): unknown };
}

/** Reads the environment. Rejects with ConfigError, naming what is wrong or missing. */
export const loadSettings = async (env: NodeJS.ProcessEnv, needsQueue = false) =>
  (await import('./read-settings.ts')).readSettings(env, needsQueue);

export type CliSettings = Awaited<ReturnType<typeof loadSettings>>;

/** Opens the database for `work` and closes it afterwards. `statementTimeoutMs` null: as long as it takes. */
export async function withDatabase<Result>(
  connectionString: string,
  statementTimeoutMs: number | null,
  work: (db: Database) => Promise<Result>,
): Promise<Result> {
  const { connect } = await import('@floodgate/database/connection/connect');
  const timeout = statementTimeoutMs === null ? {} : { statementTimeoutMs };
  const options = { connectionString, applicationName: 'floodgate-cli', maxConnections: 2 };
  await using db = connect({ ...options, ...timeout });
  return await work(db);
}

/** Makes a command do `work`, with the options and arguments as its parsers left them, and print its answer. */
export function answering<Args extends unknown[], Options extends OptionValues>(
  command: Command<Args, Options>,
  cli: Cli,
  work: (options: Options, ...args: Args) => Promise<Answer>,
): void {
  const withJson = command.option('--json', 'print one JSON document');
  withJson.action(async () => {
    const answer = await work(command.opts(), ...command.processedArgs).catch((error: unknown) => {
      if (!(error instanceof InvalidInput)) throw error;
      const rules = Object.entries(error.rules).map(([field, rule]) => [typedName(command, field), rule]);
      throw new InvalidInput(Object.fromEntries(rules));
    });
    const isJson = 'json' in withJson.opts();
    cli.stdout.write(`${isJson ? JSON.stringify(answer.document, null, 2) : answer.text}\n`);
    if (answer.failure !== undefined) throw new Failure(answer.failure);
  });
}

/**
 * Returns the option or argument that an action's field comes from: one with the field's name, or one whose name is a part of it
 * (`--expires` of expiresAt, `--prefix` of passPrefix, `--by` of lastModifiedBy).
 */
function typedName(command: CommandUnknownOpts, field: string): string {
  const typed = [
    ...command.options.map((option) => ({ name: option.attributeName(), as: option.long! })),
    ...command.registeredArguments.map((argument) => ({ name: argument.name(), as: `<${argument.name()}>` })),
  ];
  const isPart = (name: string) => `_${words(field, '_')}_`.includes(`_${words(name, '_')}_`);
  const found = typed.find(({ name }) => name === field) ?? typed.find(({ name }) => isPart(name));
  return found?.as ?? field;
}

/** The same for work on the database of DATABASE_URL, which is open only that long. */
export function answeringFromDatabase<Args extends unknown[], Options extends OptionValues>(
  command: Command<Args, Options>,
  cli: Cli,
  work: (db: Database, options: Options, ...args: Args) => Promise<Answer>,
): void {
  answering(command, cli, async (options, ...args) => {
    const { databaseUrl } = await loadSettings(cli.env);
    return withDatabase(databaseUrl, STATEMENT_TIMEOUT_MS, (db) => work(db, options, ...args));
  });
}

/** The same for work that changes something, which `actor` is noted for: --by, or the user of the operating system. */
export function answeringChange<Args extends unknown[], Options extends OptionValues>(
  command: Command<Args, Options>,
  cli: Cli,
  work: (db: Database, actor: string, options: Options & Signed, ...args: Args) => Promise<Answer>,
): void {
  const signed = command.option(
    '--by <who>',
    'who is noted for the change; by default the user of this machine',
    parseText,
  );
  // Generic as it is here, TypeScript does not work out what the option adds.
  answeringFromDatabase(signed as unknown as Command<Args, Options & Signed>, cli, (db, options, ...args) =>
    work(db, options.by ?? userName(), options, ...args),
  );
}

interface Signed {
  by?: string;
}

/** Returns the name of the user who runs this process. In a container the user may have none. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `user ${process.getuid?.()}`;
  }
}
