import { PERSON_EXAMPLES } from '@floodgate/contract';
import { expect, test } from 'vitest';
import { listGuests, type ListOptions } from './list-guests.ts';

const TICKETS = [
  { id: 7, title: 'Standing' },
  { id: 8, title: 'Balcony' },
  { id: 9, title: 'Box' },
  { id: 10, title: 'Box' },
];

const list = (csv: string, options: Partial<ListOptions> = {}) =>
  listGuests(csv, { tickets: TICKETS, ticketId: 7, ...options });

/** The guests of a list, each with its line. */
const guestsIn = (csv: string, options?: Partial<ListOptions>) =>
  list(csv, options).rows.map((row) => {
    if (!('guest' in row)) return row;
    const { partnerReference: _, ...guest } = row.guest;
    return { line: row.line, ...guest };
  });

const JANE = { fullName: 'Jane Doe', emailAddress: 'jane@example.com', organizedEventTicketID: 7 };

test.for<[form: string, csv: string]>([
  ['commas', 'name,email\nJane Doe,jane@example.com'],
  ['semicolons', 'name;email\nJane Doe;jane@example.com'],
  ['tabs', 'name\temail\nJane Doe\tjane@example.com'],
  ['semicolons, and commas in the names of columns', '"name";"email";"a,b,c"\nJane Doe;jane@example.com;'],
  ['a byte order mark', '\uFEFFname,email\nJane Doe,jane@example.com'],
  ['Windows line ends', 'name,email\r\nJane Doe,jane@example.com\r\n'],
  ['old line ends', 'name,email\rJane Doe,jane@example.com\r'],
  ['quotes', '"name","email"\n"Jane Doe","jane@example.com"'],
  ['names of columns in other forms', 'FULL  NAME,E-Mail\nJane Doe,jane@example.com'],
  ['German names of columns', 'Vorname;Nachname;E-Mail-Adresse\nJane;Doe;jane@example.com'],
  ['names in two columns, the last name first', 'last name,email,first_name\nDoe,jane@example.com,Jane'],
  ['spaces around cells', 'name , email\n Jane Doe , jane@example.com '],
  ['cells that are empty at the end of rows', 'name,email\nJane Doe,jane@example.com,,'],
  ['short rows', 'name,email,phone,ticket\nJane Doe,jane@example.com'],
])('a list with %s is read', ([, csv]) => {
  expect(guestsIn(csv)).toEqual([{ line: 2, ...JANE }]);
});

test('every column of a request can be in a list, and the others are named', () => {
  const csv =
    'name,email,phone,gender,table,extra data 1,extraData2,reference,ticket,Company,Notes\n' +
    'Jane Doe,jane@example.com,+44 20 7946 0123,female,Table 7,vegan,by train,VIP-1,Balcony,Acme,x';
  const { rows, ignored } = list(csv);
  expect(rows).toEqual([
    {
      line: 2,
      guest: {
        ...JANE,
        organizedEventTicketID: 8,
        phoneNumber: '+44 20 7946 0123',
        gender: 'female',
        tableOrSeat: 'Table 7',
        extraData1: 'vegan',
        extraData2: 'by train',
        partnerReference: 'VIP-1',
      },
    },
  ]);
  expect(ignored).toEqual(['Company', 'Notes']);
});

test('a mapping names the columns of a field, and comes before known names', () => {
  const csv = 'Title,Given,Family,Work e-mail,email\nDr.,Jane,Doe,jane@example.com,private@example.com';
  const map = ['Title+given+FAMILY=fullName', 'work e-mail=email address'];
  expect(guestsIn(csv, { map })).toEqual([{ line: 2, ...JANE, fullName: 'Dr. Jane Doe' }]);
});

test('a row is named by the line where it begins, also after cells of several lines and empty rows', () => {
  const csv =
    'name,email\n\n"Jane\nDoe",jane@example.com\r\n,,\n\r\nJane Doe,jane@example.com\n"Jo",no address\n';
  expect(list(csv).rows.map(({ line }) => line)).toEqual([3, 7, 8]);
  expect(guestsIn(csv)[1]).toEqual({ line: 7, ...JANE });
});

const NAME_RULE =
  'fullName: required, 1 to 255 characters after trimming, one of them visible, no control or text direction ' +
  'characters inside';
const ADDRESS_RULE =
  'emailAddress: required, an e-mail address of at most 254 characters, with only ASCII before the @ and a dot ' +
  'in the domain after it';

test.for<[row: string, reason: string]>([
  [',jane@example.com', NAME_RULE],
  ['Jane Doe,', ADDRESS_RULE],
  ['Jane Doe,jane@example', ADDRESS_RULE],
  [',jane', `${NAME_RULE}; ${ADDRESS_RULE}`],
  [`${'x'.repeat(256)},jane@example.com`, NAME_RULE],
  ['"Jane\nDoe",jane@example.com', NAME_RULE],
  ['Jane Doe,jane@example.com,No such', 'ticket: No such ticket under this event'],
  ['Jane Doe,jane@example.com,6', 'ticket: No such ticket under this event'],
  ['Jane Doe,jane@example.com,Box', 'ticket: several tickets have this title; name it by its id'],
  ['Doe, Jane,jane@example.com,7,x', 'the row has 5 cells, and the header has 4'],
  [
    `Jane Doe,jane@example.com,7,${'1'.repeat(33)}`,
    'phoneNumber: optional, at most 32 characters of any kind, no control characters',
  ],
])('a messy row is refused with the rule in the words of the API: %s', ([row, reason]) => {
  expect(list(`name,email,ticket,phone\n${row}\nJane Doe,jane@example.com,10`).rows).toEqual([
    { line: 2, reason },
    expect.objectContaining({ guest: expect.objectContaining({ organizedEventTicketID: 10 }) as unknown }),
  ]);
});

test('a row without a ticket needs one for the list', () => {
  const csv = 'name,email,ticket\nJane Doe,jane@example.com,';
  expect(list(csv, { ticketId: undefined }).rows).toEqual([
    { line: 2, reason: 'ticket: the row names none, and no ticket is given' },
  ]);
  expect(list(csv, { ticketId: 99 }).rows).toEqual([
    { line: 2, reason: 'ticket: No such ticket under this event' },
  ]);
});

test('every example of a name or an address is decided as the API decides it', () => {
  // A file has no lone surrogates.
  const inFiles = PERSON_EXAMPLES.filter(({ sent }) => sent.isWellFormed());
  expect(inFiles.length).toBeGreaterThan(10);
  for (const { field, sent, stored } of inFiles) {
    const cells = { fullName: 'Jane Doe', emailAddress: 'jane@example.com', phoneNumber: '', extraData1: '' };
    const quoted = Object.values({ ...cells, [field]: sent }).map(
      (cell) => `"${cell.replaceAll('"', '""')}"`,
    );
    const [row] = list(`name,email,phone,extraData1\n${quoted.join(',')}`).rows;
    const read = row && 'guest' in row ? row.guest[field] : undefined;
    // The API keeps an empty text, and spaces around free text. A cell without text has none.
    const expected = field === 'extraData1' ? stored?.trim() : stored;
    expect([field, sent, read]).toEqual([field, sent, expected === '' ? undefined : expected]);
  }
});

test('the same guest in two rows is a duplicate, whatever the case and the spaces', () => {
  const csv =
    'name,email,ticket\nJane Doe,jane@example.com,7\nJANE  doe,Jane@Example.com,7\nJane Doe,jane@example.com,8';
  expect(list(csv).rows.map((row) => ('duplicateOf' in row ? row.duplicateOf : 'guest'))).toEqual([
    'guest',
    2,
    'guest',
  ]);
});

test('a reference tells guests apart, and makes two rows the same guest', () => {
  const csv = 'name,email,ref\nA,a@example.com,1\nA,a@example.com,2\nB,b@example.com,1';
  expect(list(csv).rows.map((row) => ('duplicateOf' in row ? row.duplicateOf : 'guest'))).toEqual([
    'guest',
    'guest',
    2,
  ]);
});

test.for<[csv: string, problem: string, map?: string[]]>([
  ['', 'csv: the file is empty; its first row names the columns'],
  ['\n;;\n', 'csv: the file is empty; its first row names the columns'],
  ['Jane Doe,jane@example.com', 'csv: no column holds fullName: the first row must name the columns'],
  ['name,phone\n', 'csv: no column holds emailAddress'],
  ['vorname,email\n', 'csv: no column holds fullName'],
  ['name,email,E-Mail\n', 'csv: columns 2 and 3 both hold emailAddress'],
  [
    'name,email\nA,a@example.com\n"B,b@example.com\nC,c@example.com',
    'csv: line 3: a quote is opened and never closed',
  ],
  ['name,email\n', 'map: the header has no such column for fullName', ['guest=fullName']],
  ['name,email\n', 'map: columns and a field', ['name=age']],
  ['name,email\n', 'map: columns and a field', ['fullName']],
  [`name,email\n${'A,a@example.com\n'.repeat(20_001)}`, 'csv: the file has 20001 rows, and at most 20000'],
])('a file that is no list is refused as a whole, without a word of it: %#', ([csv, problem, map]) => {
  let message = '';
  try {
    list(csv, { map });
  } catch (error) {
    message = String(error);
  }
  expect(message).toContain(problem);
  expect(message).not.toMatch(/jane@example|a@example/);
});
