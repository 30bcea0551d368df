import type { TSchema } from '@sinclair/typebox';
import fc from 'fast-check';

/** Text of a JSON value, well-formed or not. Drawn as text: not everything that can be sent can be held. */
export type JsonText = fc.Arbitrary<string>;

const codePoint = (min: number, max: number) =>
  fc.integer({ min, max }).map((point) => String.fromCodePoint(point));
const PLANES = Array.from({ length: 17 }, (_, plane) =>
  codePoint(plane * 0x1_0000, plane * 0x1_0000 + 0xffff),
);
const ascii = codePoint(0x20, 0x7e);
/** Every plane, surrogates and controls included. */
const anyPlane = fc.oneof(...PLANES);
const visible = fc.oneof(ascii, codePoint(0xa0, 0xd7ff), ...PLANES.slice(1));
/** What is shown in another order, or not at all, or changes its length with case, normalization or encoding. */
const shifty = fc.constantFrom(
  '\u202e',
  '\u2066',
  '\u200b',
  '\u200d',
  '\ufeff',
  '\u2028',
  '\u2029',
  '\u00ad',
  '\u00a0',
  '\u3000',
  '\u180e',
  'e\u0301',
  '\u0301',
  'ﬁ',
  'İ',
  'ß',
  'ǆ',
  '\u1160',
  '\ufdfa',
  '\u{e0001}',
  '👨\u200d👩\u200d👧',
  '\uffff',
  '\ufffd',
);
const syntax = fc.constantFrom(
  '"',
  '\\',
  '{',
  '}',
  ',',
  "'",
  ';',
  'NULL',
  '$1',
  '%s',
  '%00',
  '\\N',
  '<b>',
  '--',
);
const control = fc.oneof(codePoint(0, 0x1f), codePoint(0x7f, 0x9f));
const halfPair = fc.integer({ min: 0xd800, max: 0xdfff }).map((unit) => String.fromCharCode(unit));
const textDirection = fc.oneof(
  fc.constantFrom('\u061c', '\u200e', '\u200f'),
  codePoint(0x202a, 0x202e),
  codePoint(0x2066, 0x2069),
);
const odd = fc.oneof(control, halfPair, textDirection, shifty, syntax, anyPlane);

/** Digits and what stands between them, for patterns of numbers. */
const telephone = fc.constantFrom(...'0123456789+-(). '.split(''));

/** The whole numbers that a schema speaks of, in bounds or in a pattern: their neighbours are where mistakes are. */
function boundsOf(schema: TSchema): number[] {
  const inPattern = String(schema['pattern'] ?? '').match(/[0-9]+(?=[,}])/g) ?? [];
  const { minLength, maxLength, minItems, maxItems } = schema as Record<string, number | undefined>;
  return [0, minLength, maxLength, minItems, maxItems, ...inPattern.map(Number)].filter(
    (n) => n !== undefined,
  );
}

function lengthOf(schema: TSchema): fc.Arbitrary<number> {
  const bounds = boundsOf(schema);
  const at = bounds.flatMap((bound) => [bound - 1, bound, bound + 1]).filter((length) => length >= 0);
  return fc.oneof(fc.constantFrom(...at), fc.nat(Math.min(40, Math.max(...bounds, 1))));
}

/** Text of a length that the schema makes interesting, of one kind or mixed, with something odd in it or not. */
function textOf(schema: TSchema): fc.Arbitrary<string> {
  const repeated = fc
    .tuple(fc.oneof(visible, telephone), lengthOf(schema))
    .map(([unit, length]) => unit.repeat(length));
  const mixed = lengthOf(schema).chain((length) => {
    const lengths = { minLength: length, maxLength: length };
    return fc.oneof(
      fc.string({ unit: telephone, ...lengths }),
      fc.string({ unit: visible, ...lengths }),
      fc.string({ unit: ascii, ...lengths }),
    );
  });
  const text = fc.oneof(repeated, mixed, FORMATS[String(schema['format'])] ?? mixed);
  const withOdd = fc
    .tuple(text, odd, fc.nat(300))
    .map(([base, other, at]) => base.slice(0, at) + other + base.slice(at + other.length));
  const padded = fc
    .tuple(shiftySpace, text, shiftySpace)
    .map(([before, base, after]) => before + base + after);
  return fc.oneof({ weight: 4, arbitrary: text }, withOdd, padded);
}

const shiftySpace = fc.constantFrom('', ' ', '\t\r\n', '\u00a0', '\ufeff', '\u2028', '\u200b', '\u0085');

const label = fc
  .tuple(fc.constantFrom('d', 'x-y', '9'), fc.constantFrom(1, 2, 20, 60, 61, 62, 63, 64))
  .map(([unit, length]) => unit.repeat(length).slice(0, length));
const address = fc
  .tuple(
    fc.constantFrom(1, 8, 63, 64, 65),
    fc.array(label, { minLength: 1, maxLength: 5 }),
    fc.constantFrom('.', '..', '@'),
  )
  .map(([local, labels, dot]) => `${'l'.repeat(local)}@${labels.join(dot)}`);

/** Formats of text: texts that hold to them, and texts that almost do. */
const FORMATS: Record<string, fc.Arbitrary<string>> = {
  email: fc.oneof(
    fc.emailAddress(),
    address,
    fc.emailAddress().map((text) => text.toUpperCase()),
  ),
  uuid: fc.oneof(
    fc.uuid(),
    fc.uuid().map((text) => text.toUpperCase()),
    fc.uuid().map((text) => `{${text}}`),
  ),
};

/** Numbers as they can be written, whatever becomes of them. */
const number: JsonText = fc.oneof(
  fc.constantFrom(
    '0',
    '-0',
    '-1',
    '1',
    '1.0',
    '1e0',
    '10e-1',
    '0.9999999999999999999',
    '1.5',
    '1e400',
    '-1e400',
  ),
  fc.constantFrom('2147483646', '2147483647', '2147483648', '4294967297', '9007199254740993', '1e-400'),
  fc.constantFrom('2147483647.0', '2147483647.0000000001', '21474836.47e2', '18446744073709551617', '1E+2'),
  fc.nat(1_000).map((digits) => '9'.repeat(digits + 1)),
  fc.nat(1_000).map((digits) => `1.${'0'.repeat(digits)}1`),
  fc.double().map(String),
  fc.integer().map(String),
);

/** What JSON does not know. */
const noJson: JsonText = fc.constantFrom(
  'NaN',
  'Infinity',
  'undefined',
  '01',
  '+1',
  '.5',
  '1.',
  '0x10',
  "'text'",
  '"\\x41"',
  '"\n"',
  '"',
  '[',
  '{',
  'nul',
  '',
);

const brackets = (open: string, close: string) => (depth: number) => open.repeat(depth) + close.repeat(depth);
const DEPTHS = fc.constantFrom(1, 2, 100, 1_000, 8_000, 10_000);
export const nested: JsonText = fc.oneof(
  DEPTHS.map(brackets('[', ']')),
  DEPTHS.map((depth) => `${'{"a":'.repeat(Math.min(depth, 2_500))}1${'}'.repeat(Math.min(depth, 2_500))}`),
  DEPTHS.map((depth) => '['.repeat(depth)),
);

/** Text, as it is or with every character escaped. */
export const quoted = (text: fc.Arbitrary<string>): JsonText =>
  fc.oneof(
    { weight: 4, arbitrary: text.map((one) => JSON.stringify(one)) },
    text.map(
      (one) => `"${Array.from({ length: one.length }, (_, at) => escaped(one.charCodeAt(at))).join('')}"`,
    ),
  );

const escaped = (unit: number) => `\\u${unit.toString(16).padStart(4, '0')}`;

const anyValue: JsonText = fc.oneof(
  fc.constantFrom('null', 'true', 'false', '""', '[]', '{}', '[null]', '{"a":1}', '["a"]', '[1]'),
  fc.json({ maxDepth: 3 }),
  number,
  quoted(fc.string({ unit: odd, maxLength: 5 })),
);

/** A value that a schema's field may be sent with: right, almost right, or of another kind. */
export function valueOf(schema: TSchema): JsonText {
  const own = typesOf(schema).map((type) => OWN[type]?.(schema) ?? anyValue);
  return fc.oneof(
    { weight: 12, arbitrary: fc.oneof(...own) },
    { weight: 2, arbitrary: anyValue },
    { weight: 1, arbitrary: quoted(anyValue) },
    { weight: 1, arbitrary: fc.oneof(noJson, nested) },
  );
}

/** A value that the schema's field is right with, as far as a schema tells: some are wrong all the same. */
export function likelyValueOf(schema: TSchema): JsonText {
  if (!typesOf(schema).includes('string')) return valueOf(schema);
  const {
    minLength = 0,
    maxLength = 40,
    format,
    pattern,
  } = schema as { minLength?: number; maxLength?: number; format?: string; pattern?: string };
  const known = FORMATS[format ?? ''];
  if (known) return quoted(known);
  const isOfDigits = (pattern ?? '').includes('[0-9');
  const unit = isOfDigits ? telephone : visible;
  const short = fc.string({
    unit,
    minLength: isOfDigits ? 4 : minLength,
    maxLength: Math.min(32, maxLength),
  });
  const longest = unit.map((one) => one.repeat(isOfDigits ? 32 : maxLength));
  return quoted(fc.oneof({ weight: 8, arbitrary: short }, { weight: 1, arbitrary: longest }));
}

const OWN: Record<string, (schema: TSchema) => JsonText> = {
  string: (schema) => quoted(textOf(schema)),
  null: () => fc.constantFrom('null', '""'),
  integer: () => number,
  number: () => number,
  boolean: () => fc.constantFrom('true', 'false', '0', '1', '"true"'),
};

function typesOf(schema: TSchema): string[] {
  return [(schema as { type?: string | string[] }).type ?? 'any'].flat();
}
