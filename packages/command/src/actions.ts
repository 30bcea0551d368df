import { userInfo } from 'node:os';
import type { Command, CommandUnknownOpts, OptionValues } from '@commander-js/extra-typings';
import type { Database } from '@floodgate/database';
import { Failure, InvalidInput } from '@floodgate/service/failure';
import type { Static, TObject, TSchema } from '@sinclair/typebox';
import { NONE, parseText } from './arguments.ts';
import { words, type Answer } from './output.ts';

// The program defines all commands at its start. A command imports the modules for its work only when it runs: loading them takes
// ten times as long as all the definitions.

const STATEMENT_TIMEOUT_MS = 30_000;

/** The dependencies of the commands. */
export interface Cli {
  env: NodeJS.ProcessEnv;
  stdout: { write(text: string): unknown };
  stderr: { write(text: string): unknown };
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
export function answering<Options extends OptionValues>(
  command: Command<unknown[], Options>,
  cli: Cli,
  work: (options: Options) => Promise<Answer>,
) {
  const withJson = command.option('--json', 'print one JSON document');
  withJson.action(async () => {
    const answer = await work(command.opts()).catch((error: unknown) => {
      if (!(error instanceof InvalidInput)) throw error;
      const typed = (field: string) => sourceOf(command, field)?.typed ?? field;
      const rules = Object.entries(error.rules).map(([field, rule]) => [typed(field), rule]);
      throw new InvalidInput(Object.fromEntries(rules));
    });
    const isJson = 'json' in withJson.opts();
    cli.stdout.write(`${isJson ? JSON.stringify(answer.document, null, 2) : answer.text}\n`);
    if (answer.failure !== undefined) throw new Failure(answer.failure);
  });
}

/**
 * Returns the input of an action. The value of each field comes from an argument or option (see sourceOf); `names` maps a field to an
 * option with an unrelated name. "none" becomes null if the field may be null. Fields without a value are absent.
 */
export function inputOf<Input extends TObject>(
  command: CommandUnknownOpts,
  schema: Input,
  names: Record<string, string> = {},
): Static<Input> {
  const fields = Object.entries(schema.properties).map(([field, rule]) => {
    // An option can imply the value of a field: --test implies the mode "test".
    const value: unknown = command.getOptionValue(field) ?? sourceOf(command, names[field] ?? field)?.value;
    return [field, value === NONE && allowsNull(rule) ? null : value] as const;
  });
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined));
}

const allowsNull = (rule: TSchema) =>
  (rule['anyOf'] as TSchema[] | undefined)?.some(({ type }) => type === 'null') === true;

/**
 * Returns the option or argument for an action's field, with its value and the name that the operator types. It has the field's name,
 * or a part of it (`--expires` for expiresAt, `--prefix` for passPrefix). `--by` is no input: it is the actor in the audit log.
 */
function sourceOf(command: CommandUnknownOpts, field: string) {
  const options = command.options.map((option) => {
    const name = option.attributeName();
    const value: unknown = command.getOptionValue(name);
    return { name, typed: option.long!, value };
  });
  // Commander returns [] for a missing argument that may be repeated.
  const values: unknown[] = command.processedArgs.slice(0, command.args.length);
  const given = command.registeredArguments.map((argument, index) => {
    const name = argument.name();
    return { name, typed: `<${name}>`, value: values[index] };
  });
  const sources = [...options, ...given].filter(({ typed }) => typed !== '--by' || field === 'by');
  const isPart = (name: string) => `_${words(field, '_')}_`.includes(`_${words(name, '_')}_`);
  return sources.find(({ name }) => name === field) ?? sources.find(({ name }) => isPart(name));
}

/** Like `answering`, for work on the database of DATABASE_URL, which is open only during the work. */
export function answeringFromDatabase(
  command: Command<unknown[]>,
  cli: Cli,
  work: (db: Database) => Promise<Answer>,
) {
  answering(command, cli, async () => {
    const { databaseUrl } = await loadSettings(cli.env);
    return withDatabase(databaseUrl, STATEMENT_TIMEOUT_MS, work);
  });
}

/** Like `answeringFromDatabase`, for changes. The audit log names `actor`: --by, or the user of the operating system. */
export function answeringChange(
  command: Command<unknown[]>,
  cli: Cli,
  work: (db: Database, actor: string) => Promise<Answer>,
) {
  const BY = 'name for the audit log; by default the user of this machine';
  const signed = command.option('--by <who>', BY, parseText);
  answeringFromDatabase(signed, cli, (db) => work(db, signed.opts().by ?? userName()));
}

/** Returns the name of the user who runs this process. In a container the user may have none. */
function userName() {
  try {
    return userInfo().username;
  } catch {
    return `user ${process.getuid?.()}`;
  }
}
