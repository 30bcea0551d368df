import { Type, type Static, type StringOptions, type TObject, type TString } from '@sinclair/typebox';
import { Value, ValueErrorType, type ValueError } from '@sinclair/typebox/value';
import { parse } from 'pg-connection-string';
import { ConfigError, InvalidInput } from './failure.ts';

/**
 * Reads the variables that `schema` names, converts whole numbers and adds defaults. An empty variable counts
 * as absent. Throws ConfigError. Its message names variables and rules, never values, which may be secret.
 */
export function loadConfig<Schema extends TObject>(schema: Schema, env: NodeJS.ProcessEnv) {
  const values = Object.fromEntries(
    Object.entries(schema.properties)
      .filter(([name]) => env[name])
      .map(([name, property]) => [name, convert(env[name]!, property['type'])]),
  );
  const config = Value.Default(schema, { ...values });
  const reasons = Object.entries(wrongFields(schema, config)).map(
    ([name, rule]) => `${name} is not ${name in values ? 'valid' : 'set'}: ${rule}`,
  );
  if (reasons.length > 0) throw new ConfigError(reasons.join('; '));
  return config as Static<Schema>;
}

// Value.Convert would silently turn "1.5" into 1.
const convert = (text: string, type: unknown) =>
  type === 'integer' && /^-?\d+$/.test(text) ? Number(text) : text;

/** Returns the invalid fields of the value, each with its rule: the description in the schema. */
export function wrongFields(schema: TObject, value: unknown) {
  const errors = [...Value.Errors(schema, value)].filter((error) => !isShortEnough(error));
  const names = errors.map(({ path }) => path.split('/')[1]!);
  return Object.fromEntries(names.map((name) => [name, schema.properties[name]?.description ?? 'not valid']));
}

/** Throws InvalidInput, which names the fields that break a rule of the schema, and those in `others`. */
export function assertFields<Schema extends TObject>(
  schema: Schema,
  value: unknown,
  others: Record<string, string> = {},
): asserts value is Static<Schema> {
  const rules = { ...wrongFields(schema, value), ...others };
  if (Object.keys(rules).length > 0) throw new InvalidInput(rules);
}

/** TypeBox counts UTF-16 units, but Postgres and JSON Schema count characters. */
const isShortEnough = ({ type, value, schema }: ValueError) =>
  type === ValueErrorType.StringMaxLength &&
  Array.from(value as string).length <= (schema as TString).maxLength!;

/** Schema of a whole number within bounds. */
export function whole(rule: string, [minimum, maximum]: [number, number], byDefault?: number) {
  const description = `${rule} (${minimum} to ${maximum})`;
  return Type.Integer({ description, minimum, maximum, default: byDefault });
}

export const port = (description: string, byDefault: number) => whole(description, [0, 65535], byDefault);

/** Schema of a switch, which is off by default. */
export const flag = (description: string) =>
  Type.Union([Type.Literal('true'), Type.Literal('false')], { default: 'false', description });

/** Schema of an optional text. */
export const optionalText = (description: string, rules: StringOptions = {}) =>
  Type.Optional(Type.String({ description, ...rules }));

/**
 * Returns whether Postgres's client can parse the URL. The client itself would fail later, without naming the
 * variable. A certificate that the URL names must exist.
 */
export function isPostgresUrl(text: string) {
  if (!/^postgres(ql)?:\/\//.test(text) || !URL.canParse(text)) return false;
  try {
    // The client has no list of servers: it would look for one host of this name.
    return !parse(text).host?.includes(',');
  } catch {
    return false;
  }
}
