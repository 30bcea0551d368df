import { expect, test } from 'vitest';
import { readStrictly } from './read-strictly.ts';

const read = (text: string) => readStrictly(Buffer.from(text, 'latin1'));
const post = (framing: string, behind: string) => `POST / HTTP/1.1\r\nhost: a\r\n${framing}\r\n\r\n${behind}`;
const GET = 'GET / HTTP/1.1\r\nhost: a\r\n\r\n';

test.for([
  ['nothing', '', [], 'clean'],
  ['two requests', GET + GET, ['', ''], 'clean'],
  ['empty lines before a request', `\r\n\r\n${GET}`, [''], 'clean'],
  ['a body of that length', post('content-length: 2', `{}${GET}`), ['{}', ''], 'clean'],
  [
    'chunks',
    post('transfer-encoding: chunked', `1;a=b\r\n{\r\n1\r\n}\r\n0\r\n\r\n${GET}`),
    ['{}', ''],
    'clean',
  ],
  ['a trailer', post('transfer-encoding: chunked', `0\r\na: b\r\n\r\n${GET}`), ['', ''], 'clean'],
  ['a request behind the last one', post('connection: close', GET), [''], 'closed'],
  ['a request behind one of HTTP/1.0', `GET / HTTP/1.0\r\n\r\n${GET}`, [''], 'closed'],
  ['half a head', `${GET}GET / HTTP/1.1\r\nhost: a\r\n`, [''], 'incomplete'],
  ['half a body', post('content-length: 3', '{}'), [], 'incomplete'],
  ['half a chunk', post('transfer-encoding: chunked', '5\r\nhel'), [], 'incomplete'],
  ['length and chunks', post('content-length: 2\r\ntransfer-encoding: chunked', '{}'), [], 'malformed'],
  ['two lengths', post('content-length: 2\r\ncontent-length: 2', '{}'), [], 'malformed'],
  ['a length with a sign', post('content-length: +2', '{}'), [], 'malformed'],
  ['chunks twice', post('transfer-encoding: chunked, chunked', '0\r\n\r\n'), [], 'malformed'],
  ['an unknown coding', post('transfer-encoding: xchunked', '0\r\n\r\n'), [], 'malformed'],
  ['a chunk of another size', post('transfer-encoding: chunked', '1\r\n{}\r\n0\r\n\r\n'), [], 'malformed'],
  ['a space before the colon', post('content-length : 2', '{}'), [], 'malformed'],
  ['a folded line', post('a: b\r\n c', ''), [], 'malformed'],
  ['a bare line feed', post('a: b\nc: d', ''), [], 'malformed'],
  ['NUL in a header', post('a: \0', ''), [], 'malformed'],
  ['another version', GET.replace('1.1', '2.0'), [], 'malformed'],
] as const)('a strict reader of %s', ([_what, text, bodies, end]) => {
  const reading = read(text);
  expect(reading.requests.map(({ body }) => body.toString())).toEqual(bodies);
  expect(reading.end).toBe(end);
});
