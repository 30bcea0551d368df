import { userInfo } from 'node:os';
import type { Command, CommandUnknownOpts, OptionValues } from '@commander-js/extra-typings';
import type { Database } from '@floodgate/database';
import { Failure, InvalidInput } from '@floodgate/service/failure';
import type { Static, TObject, TSchema } from '@sinclair/typebox';
import { NONE, parseText } from './arguments.ts';
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
      const rules = Object.entries(error.rules).map(([field, rule]) => [
        sourceOf(command, field)?.typed ?? field,
        rule,
      ]);
      throw new InvalidInput(Object.fromEntries(rules));
    });
    const isJson = 'json' in withJson.opts();
    cli.stdout.write(`${isJson ? JSON.stringify(answer.document, null, 2) : answer.text}\n`);
    if (answer.failure !== undefined) throw new Failure(answer.failure);
  });
}

/**
 * Returns the input of an action: each field from the argument or option that it comes from. "none" is null for a field that may be
 * null. A field that was not given is absent. `names` has the options that have another name than their field.
 */
export function inputOf<Input extends TObject>(
  command: CommandUnknownOpts,
  schema: Input,
  names: Record<string, string> = {},
): Static<Input> {
  const fields = Object.entries(schema.properties).map(([field, rule]) => {
    // Options can also imply a value: --test is the mode "test".
    const value: unknown = command.getOptionValue(field) ?? sourceOf(command, names[field] ?? field)?.value;
    return [field, value === NONE && allowsNull(rule) ? null : value] as const;
  });
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined)) as Static<Input>;
}

const allowsNull = (rule: TSchema) =>
  (rule['anyOf'] as TSchema[] | undefined)?.some(({ type }) => type === 'null') === true;

/**
 * Returns the option or argument that an action's field comes from, as it is typed and with its value: one with the field's name, or
 * one whose name is a part of it (`--expires` of expiresAt, `--prefix` of passPrefix, `--by` of lastModifiedBy).
 */
function sourceOf(command: CommandUnknownOpts, field: string) {
  const sources = [
    ...command.options.map((option) => {
      const name = option.attributeName();
      const value: unknown = command.getOptionValue(name);
      return { name, typed: option.long!, value };
    }),
    ...command.registeredArguments.map((argument, index) => {
      const name = argument.name();
      // Commander has [] for one that could be repeated and is missing.
      const value = index < command.args.length ? command.processedArgs[index] : undefined;
      return { name, typed: `<${name}>`, value };
    }),
  ];
  const isPart = (name: string) => `_${words(field, '_')}_`.includes(`_${words(name, '_')}_`);
  return sources.find(({ name }) => name === field) ?? sources.find(({ name }) => isPart(name));
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
export function answeringChange(
  command: Command<unknown[]>,
  cli: Cli,
  work: (db: Database, actor: string) => Promise<Answer>,
): void {
  const signed = command.option(
    '--by <who>',
    'who is noted for the change; by default the user of this machine',
    parseText,
  );
  answeringFromDatabase<unknown[], { by?: string }>(signed, cli, (db, { by = userName() }) => work(db, by));
}

/** Returns the name of the user who runs this process. In a container the user may have none. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `user ${process.getuid?.()}`;
  }
}
