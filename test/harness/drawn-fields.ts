import fc from 'fast-check';

// Values of a registration's fields that are valid or invalid by construction, so that the tests do not
// repeat the API's checks.

const repeated = (unit: string, length: number) => fc.constant(unit.repeat(length));

const textDirection = Array.from('\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069');

/** Every plane, but no control characters, none that change the text direction, and no surrogates. */
const printable = fc
  .oneof(
    fc.integer({ min: 0x20, max: 0x7e }),
    fc.integer({ min: 0xa0, max: 0xd7ff }),
    fc.integer({ min: 0xe000, max: 0xffff }),
    fc.integer({ min: 0x1_0000, max: 0x10_ffff }),
  )
  .filter((point) => !textDirection.includes(String.fromCodePoint(point)));
const text = (minLength: number, maxLength: number) =>
  fc.array(printable, { minLength, maxLength }).map((points) => String.fromCodePoint(...points));

/** NUL first, because Postgres cannot store it. Then C0, DEL and C1, lone surrogates, and text direction. */
const unprintable = fc.constantFrom(
  '\0',
  '\n',
  '\t',
  '\u001b',
  '\u007f',
  '\u0085',
  '\u009f',
  '\ud800',
  '\udfff',
  ...textDirection,
);
const unprintableText = fc
  .tuple(text(0, 10), unprintable, text(0, 10))
  .map(([before, wrong, after]) => `a${before}${wrong}${after}z`);

const notText = fc.constantFrom<unknown>(0, 1, 1.5, true, false, {}, [], ['a'], { a: 1 });

const freeText = (maxLength: number) => ({
  right: fc.oneof(
    text(0, maxLength),
    fc.constantFrom('', null, ' ', '\u00a0', '0', 'null'),
    repeated('x', maxLength),
    // The same number of characters, twice the UTF-16 units.
    repeated('\u{1f39f}', maxLength),
  ),
  wrong: fc.oneof(
    notText,
    unprintableText,
    repeated('x', maxLength + 1),
    repeated('\u{1f39f}', maxLength + 1),
  ),
});

const space = fc.constantFrom('', ' ', '  ', '\u00a0', '\t', '\r\n');
const fullName = {
  right: fc.oneof(
    fc.tuple(space, text(0, 253), space).map(([before, name, after]) => `${before}J${name}e${after}`),
    repeated('\u{20000}', 255),
    repeated('é', 255).map((name) => ` ${name} `),
    fc.constantFrom('שרה לוי', 'محمد علي', '\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645'),
    fc.constantFrom('X', '李', "O'Neil; DROP", 'Jane "JD" \\ Doe', '{a,b}', 'NULL'),
  ),
  wrong: fc.oneof(
    notText,
    unprintableText,
    fc.constantFrom(null, '', ' ', '\t\n ', '\u00a0', '\u200b', '\u2800', '\u3164', '\u0301', '\u{e0041}'),
    repeated('x', 256),
    repeated('\u{20000}', 256),
  ),
};

const letters = (characters: string, minLength: number, maxLength: number) =>
  fc.string({ unit: fc.constantFrom(...characters.split('')), minLength, maxLength });
const localPart = letters("abcXYZ019!#$%&'*+/=?^_`{|}~-", 1, 64);
const label = fc
  .tuple(letters('abcXYZ09', 1, 31), letters('abc09-', 0, 31), letters('abcXYZ09', 1, 1))
  .map((parts) => parts.join(''));
/** An address with the longest possible local part, and a domain with labels of these lengths. */
const longAddress = (...labels: number[]) =>
  `${'l'.repeat(64)}@${labels.map((length) => 'd'.repeat(length)).join('.')}.io`;

const emailAddress = {
  right: fc.oneof(
    fc.tuple(localPart, label, label).map(([local, host, zone]) => `${local}@${host}.${zone}`),
    fc.constantFrom('jane@bücher.example', ' jane@example.com\n', '\u202ajane@example.com\u202c'),
    fc.constantFrom('a@b.c', 'first.last+tag@mail.example.co.uk', "o'neil@example.com", 'A@EXAMPLE.COM'),
    // 254 characters, the maximum.
    fc.constant(longAddress(62, 61, 61)),
  ),
  wrong: fc.oneof(
    notText,
    fc.constantFrom(null, '', ' ', 'jane', 'jane@', '@example.com', 'jane@example', 'jane@@example.com'),
    fc.constantFrom('jane@.com', 'jane@example.', 'jane@example..com', 'jane@-a.com', 'jane@a-.com'),
    fc.constantFrom('.jane@example.com', 'jane.@example.com', 'ja..ne@example.com', 'ja ne@example.com'),
    fc.constantFrom('ja\u200bne@example.com', 'jane@exa\0mple.com', 'jane@ü', 'jane＠example.com'),
    fc.constantFrom('"jane"@example.com', 'jané@example.com', 'jane@ü..example', 'jane@[127.0.0.1]'),
    fc.constantFrom('Jane <jane@example.com>', 'jane@a.com,joe@b.com', 'a@b@c.com', 'jane\ud800@example.com'),
    fc.constant(`${'l'.repeat(65)}@example.com`),
    fc.constant(`l@${'d'.repeat(64)}.com`),
    fc.constant(longAddress(62, 62, 61)),
  ),
};

const phoneNumber = {
  right: fc.oneof(
    fc
      .tuple(letters('0123456789', 1, 1), letters('0123456789+-(). /#x', 0, 31))
      .map((parts) => parts.join('')),
    fc.constantFrom(
      '',
      null,
      '1',
      '+1 (555) 010-0199',
      '0123/456',
      '１２３４',
      '+1,555 ext. 5',
      '\u202a+1 555\u202c\n',
    ),
    repeated('9', 32),
  ),
  wrong: fc.oneof(
    notText,
    fc.constantFrom('12\t34', '1234\0', '12\u008534', '12\ud80034'),
    repeated('9', 33),
  ),
};

const organizedEventTicketID = {
  right: fc.oneof(fc.integer({ min: 1, max: 2_147_483_647 }), fc.constantFrom(1, 2_147_483_647)),
  wrong: fc.oneof(
    fc.constantFrom<unknown>(
      null,
      '',
      '7',
      'x',
      true,
      [],
      [7],
      {},
      0,
      -1,
      0.5,
      7.000_001,
      2_147_483_648,
      1e300,
    ),
    fc.integer({ max: 0 }),
  ),
};

/** All fields of a registration with their valid and invalid values. */
export const FIELDS = {
  fullName,
  emailAddress,
  phoneNumber,
  gender: freeText(32),
  tableOrSeat: freeText(64),
  organizedEventTicketID,
  extraData1: freeText(1_000),
  extraData2: freeText(1_000),
} satisfies Record<string, { right: fc.Arbitrary<unknown>; wrong: fc.Arbitrary<unknown> }>;

export type FieldName = keyof typeof FIELDS;
export const FIELD_NAMES = Object.keys(FIELDS) as FieldName[];
export const REQUIRED: readonly FieldName[] = ['fullName', 'emailAddress', 'organizedEventTicketID'];

/** A body and the names of its invalid fields. */
export interface DrawnBody {
  body: Record<string, unknown>;
  wrong: FieldName[];
}

type Verdict = 'right' | 'wrong' | 'absent';
const anyVerdict = fc.oneof(
  { weight: 5, arbitrary: fc.constant<Verdict>('right') },
  { weight: 1, arbitrary: fc.constantFrom<Verdict[]>('wrong', 'absent') },
);

/** Any body, with its fields in any order. */
export const anyBody: fc.Arbitrary<DrawnBody> = fc
  .tuple(
    fc.shuffledSubarray(FIELD_NAMES, { minLength: FIELD_NAMES.length }),
    fc.array(anyVerdict, { minLength: FIELD_NAMES.length, maxLength: FIELD_NAMES.length }),
  )
  .chain(([names, verdicts]) => {
    const verdictOf = (name: FieldName) => verdicts[names.indexOf(name)]!;
    const sent = names.filter((name) => verdictOf(name) !== 'absent');
    const values = sent.map(
      (name) => FIELDS[name][verdictOf(name) as 'right' | 'wrong'] as fc.Arbitrary<unknown>,
    );
    const wrong = FIELD_NAMES.filter(
      (name) => verdictOf(name) === 'wrong' || (verdictOf(name) === 'absent' && REQUIRED.includes(name)),
    );
    return fc.tuple(...values).map((drawn) => ({
      body: Object.fromEntries(sent.map((name, index) => [name, drawn[index]])),
      wrong,
    }));
  });

/** A body with valid fields only. */
export const rightBody: fc.Arbitrary<Record<string, unknown>> = fc.record(
  Object.fromEntries(FIELD_NAMES.map((name) => [name, FIELDS[name].right as fc.Arbitrary<unknown>])),
  { requiredKeys: [...REQUIRED] },
);
