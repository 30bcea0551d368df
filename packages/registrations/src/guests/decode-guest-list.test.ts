import { InvalidInput } from '@floodgate/service/failure';
import { expect, test } from 'vitest';
import { assertDecoded, decodeGuestList, GUEST_LIST_BYTES } from './decode-guest-list.ts';

const TEXT = 'name,email\nJane Doe,jane@example.com\nJörg Weiß,joerg@example.com\n';

/** Returns the problem of a file, or null. */
function problemOf(work: () => unknown) {
  try {
    work();
    return null;
  } catch (error) {
    if (error instanceof InvalidInput) return error.rules['csv'];
    throw error;
  }
}

const HOW_TO = 'Save the file as UTF-8: in Excel as "CSV UTF-8"';

test('UTF-8 is read, with and without a byte order mark', () => {
  expect(decodeGuestList(Buffer.from(TEXT))).toBe(TEXT);
  expect(decodeGuestList(Buffer.from(`\uFEFF${TEXT}`))).toBe(`\uFEFF${TEXT}`);
});

test.for<[encoding: string, bytes: Buffer, line: string]>([
  ['Latin-1', Buffer.from(TEXT, 'latin1'), 'line 3 is not UTF-8'],
  [
    'UTF-8 that ends within a character',
    Buffer.from(TEXT).subarray(0, TEXT.indexOf('ö') + 1),
    'line 3 is not UTF-8',
  ],
  ['UTF-16', Buffer.from(`\uFEFF${TEXT}`, 'utf16le'), 'line 1 shows that the file is UTF-16'],
  ['UTF-16 without a mark', Buffer.from(TEXT, 'utf16le'), 'line 1 shows that the file is UTF-16'],
  [
    'UTF-16, big-endian',
    Buffer.from(`\uFEFF${TEXT}`, 'utf16le').swap16(),
    'line 1 shows that the file is UTF-16',
  ],
])('%s is refused with the line that shows it, and how to save the file', ([, bytes, line]) => {
  const problem = problemOf(() => decodeGuestList(bytes));
  expect(problem).toContain(line);
  expect(problem).toContain(HOW_TO);
});

test('a text whose characters were lost before is refused, too', () => {
  const lost = Buffer.from(TEXT, 'latin1').toString('utf8');
  expect(problemOf(() => assertDecoded(lost))).toContain('line 3 has characters that were lost');
  expect(problemOf(() => assertDecoded(`name\n\0`))).toContain('line 2 has characters that were lost');
  expect(problemOf(() => assertDecoded(TEXT))).toBeNull();
});

test('a file above the limit is refused before it is read', () => {
  const bytes = Buffer.alloc(GUEST_LIST_BYTES + 1, 'x');
  expect(problemOf(() => decodeGuestList(bytes))).toContain(`at most ${GUEST_LIST_BYTES} are allowed`);
  expect(problemOf(() => assertDecoded(bytes.toString()))).toContain('are allowed');
  expect(problemOf(() => decodeGuestList(bytes.subarray(1)))).toBeNull();
});
