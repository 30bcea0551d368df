import type { Static, TObject, TSchema } from '@sinclair/typebox';

// The input of actions and operations comes as texts or JSON: from a command line, a form, an address or a
// body.

/** The text for a field on the command line: an option, or the name of an argument. */
type OptionName = `--${string}` | `<${string}>`;

declare module '@sinclair/typebox' {
  interface SchemaOptions {
    /** The option or argument that has the value of this field, if its name is not the name of the field. */
    option?: OptionName;
  }
}

/** Returns the schema of a field that has another name on the command line. */
export const typedAs = <Schema extends TSchema>(option: OptionName, schema: Schema): Schema => ({
  ...schema,
  option,
});

/** The fields of an input. Their values are not checked yet. */
export type Given<Input extends TObject> = { [Field in keyof Static<Input>]?: unknown };

/** Returns an input: the fields for which `read` returns a value. */
export function inputOf<Input extends TObject>(
  { properties }: Input,
  read: (field: string, rule: TSchema) => unknown,
) {
  const fields = Object.entries(properties).map(([field, rule]) => [field, read(field, rule)] as const);
  // The compiler does not know that these are the fields of the schema.
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined)) as Given<Input>;
}

const allOf = (schema: TSchema): TSchema[] => (schema['anyOf'] as TSchema[] | undefined) ?? [schema];
const has = (schema: TSchema, ...types: string[]) =>
  allOf(schema).some(({ type }) => types.includes(type as string));

// As on the command line: "5.000" is five thousand to one person and five to another, so it stands for no
// number.
const WHOLE = /^-?(0|[1-9]\d*)$/;
const AMOUNT = /^\d+(\.\d{1,2})?$/;

/** Returns the value that a text stands for. A text that stands for none stays a text. */
export function valueOf(schema: TSchema, text: unknown): unknown {
  if (typeof text !== 'string') return text;
  if (has(schema, 'null') && text === 'none') return null;
  const list = allOf(schema).find(({ type }) => type === 'array');
  if (list) return (text.match(/[^\s,]+/g) ?? []).map((item) => valueOf(list['items'] as TSchema, item));
  if (has(schema, 'boolean') && /^(true|false)$/.test(text)) return text === 'true';
  return isNumberFor(schema, text.trim()) ? Number(text) : fromJson(schema, text);
}

const isNumberFor = (schema: TSchema, text: string) =>
  (has(schema, 'integer') && WHOLE.test(text)) || (has(schema, 'number') && AMOUNT.test(text));

/** Returns the value of a field in JSON, which has times as texts with an offset. */
export function fromJson(schema: TSchema, value: unknown) {
  if (typeof value !== 'string' || !has(schema, 'Date')) return value;
  try {
    return new Date(Temporal.Instant.from(value).epochMilliseconds);
  } catch {
    return value;
  }
}
