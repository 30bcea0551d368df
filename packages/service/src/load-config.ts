import { Type, type Static, type StringOptions, type TObject, type TString } from '@sinclair/typebox';
import { Value, ValueErrorType, type ValueError } from '@sinclair/typebox/value';
import { parse } from 'pg-connection-string';
import { ConfigError } from './failure.ts';

/**
 * Reads the variables that `schema` names. Whole numbers are converted, defaults filled in; an empty variable counts
 * as absent. Throws ConfigError; its message names variables and rules, never values, since those may be secrets.
 */
export function loadConfig<Schema extends TObject>(schema: Schema, env: NodeJS.ProcessEnv): Static<Schema> {
  const given = Object.fromEntries(
    Object.entries(schema.properties)
      .filter(([name]) => env[name])
      .map(([name, property]) => [name, convert(env[name]!, property['type'])]),
  );
  const config = Value.Default(schema, { ...given });
  const wrong = Object.entries(wrongFields(schema, config));
  if (wrong.length === 0) return config as Static<Schema>;
  const reasons = wrong.map(
    ([name, rule]) => `${name} ${given[name] === undefined ? 'is not set' : 'is not valid'}: ${rule}`,
  );
  throw new ConfigError(reasons.join('; '));
}

// Not by Value.Convert, which would make 1 of "1.5" without a word.
const convert = (text: string, type: unknown) =>
  type === 'integer' && /^-?\d+$/.test(text) ? Number(text) : text;

/** Returns the fields of the value that break the schema's rules, each with its rule as the schema describes it. */
export function wrongFields(schema: TObject, value: unknown): Record<string, string> {
  const errors = [...Value.Errors(schema, value)].filter((error) => !isShortEnough(error));
  const names = errors.map(({ path }) => path.split('/')[1]!);
  return Object.fromEntries(names.map((name) => [name, schema.properties[name]?.description ?? 'not valid']));
}

/** TypeBox counts UTF-16 units. Postgres and JSON Schema count characters. */
const isShortEnough = ({ type, value, schema }: ValueError) =>
  type === ValueErrorType.StringMaxLength &&
  Array.from(value as string).length <= (schema as TString).maxLength!;

/** A setting that is a whole number within bounds. */
export function whole(rule: string, [minimum, maximum]: [number, number], byDefault?: number) {
  const description = `${rule} (${minimum} to ${maximum})`;
  return Type.Integer({ description, minimum, maximum, default: byDefault });
}

export const port = (description: string, byDefault: number) => whole(description, [0, 65535], byDefault);

/** A setting that is a text, or absent. */
export const optionalText = (description: string, rules: StringOptions = {}) =>
  Type.Optional(Type.String({ description, ...rules }));

/**
 * Returns whether Postgres's client reads the URL. Asked here because the client would refuse it later without naming the
 * variable. A certificate that it names must exist.
 */
export function isPostgresUrl(text: string): boolean {
  if (!/^postgres(ql)?:\/\//.test(text) || !URL.canParse(text)) return false;
  try {
    return Boolean(parse(text));
  } catch {
    return false;
  }
}
