import fc from 'fast-check';
import { attendee } from '../harness/partner-client.ts';
import { requestText } from '../harness/raw-http.ts';
import { REGISTER, REGISTRATIONS, REVOKED, SIGNED_EVENT, TICKETS } from './judge.ts';
import type { Target } from './target.ts';

/** What a connection may carry, one character per byte. */
type Bytes = fc.Arbitrary<string>;

/** Requests as HTTP and almost as HTTP, raw bytes included, alone and one behind the other. */
export function hostileBytes(target: Target): fc.Arbitrary<Buffer> {
  const whole = wholeRequest(target);
  const one = fc.oneof(
    { weight: 3, arbitrary: mutated(whole) },
    { weight: 3, arbitrary: smuggling(target) },
    { weight: 2, arbitrary: oddLine(target) },
    { weight: 2, arbitrary: oddHeaders(target) },
    { weight: 1, arbitrary: noise },
  );
  const several = fc.array(fc.oneof({ weight: 2, arbitrary: whole }, one), { minLength: 1, maxLength: 4 });
  const joined = several.map((parts) => parts.join(''));
  return fc
    .tuple(fc.oneof(one, joined), fc.noBias(fc.nat(10 ** SAME.length)))
    .map(([text, number]) => Buffer.from(tellApart(text, number), 'latin1'));
}

/** In every registration's body at first, as long as what takes its place. */
const SAME = '000000000';

/** Gives each registration a number of its own, so that what is stored tells which of them was carried out. */
function tellApart(text: string, first: number): string {
  let number = first;
  return text.replaceAll(SAME, () => String(number++ % 10 ** SAME.length).padStart(SAME.length, '0'));
}

const callerOf = ({ secretKey, eventRef }: Target) => ({
  host: 'api',
  'x-secret-key': secretKey,
  'x-event-ref': eventRef,
});

/** A registration, its body and headers as given. */
function post(target: Target, headers: Record<string, string>, body: string): string {
  return requestText(
    `POST ${REGISTER}`,
    { ...callerOf(target), 'content-type': 'application/json', ...headers },
    body,
  );
}

const bodyFor = ({ ticketIds: [ticketId] }: Target) =>
  JSON.stringify(attendee(ticketId!, { extraData1: SAME }));
const inChunks = (body: string) => `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;

const PASS = `${REGISTRATIONS}GALA-1-1-1234567890/pass`;
const ACCEPTS = ['image/png', 'image/*;q=0.5, */*;q=0', 'text/html', ';,=q/'];

function wholeRequest(target: Target): Bytes {
  const body = bodyFor(target);
  return fc.constantFrom(
    post(target, { 'content-length': String(body.length) }, body),
    post(target, { 'transfer-encoding': 'chunked' }, inChunks(body)),
    post(target, { 'content-length': '2' }, '{}'),
    requestText(`GET ${TICKETS}`, callerOf(target)),
    requestText(`HEAD ${TICKETS}`, callerOf(target)),
    requestText(`GET ${TICKETS}`, { ...callerOf(target), 'content-length': '7' }, 'GET / \r'),
    requestText(`GET ${REGISTRATIONS}GALA-1-1-1234567890`, callerOf(target)),
    ...ACCEPTS.map((accept) => requestText(`GET ${PASS}`, { ...callerOf(target), accept })),
    requestText(`GET ${REVOKED}?after=0&limit=5`, callerOf(target)),
    requestText('GET /api/v1/nothing', { host: 'api' }),
  );
}

/** Any byte; those that mean something to HTTP more often. */
const byte: Bytes = fc.oneof(
  fc.constantFrom(...'\0\t\n\r ,:;"/\\\u007f\u0080\u00ff'.split('')),
  fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)),
);

type Change = (text: string) => string;

/** One place of a text, and how many characters there are changed. */
const place = fc.record({ at: fc.nat(), length: fc.constantFrom(1, 1, 1, 2, 4, 40) });
const change: fc.Arbitrary<Change> = fc.oneof(
  fc.tuple(place, byte).map(
    ([{ at }, other]): Change =>
      (text) =>
        splice(text, at, 1, () => other),
  ),
  fc.tuple(place, byte).map(
    ([{ at }, other]): Change =>
      (text) =>
        splice(text, at, 0, () => other),
  ),
  fc.tuple(place, fc.nat(7)).map(
    ([{ at }, bit]): Change =>
      (text) =>
        splice(text, at, 1, (old) => String.fromCharCode(old.charCodeAt(0) ^ (1 << bit))),
  ),
  place.map(
    ({ at, length }): Change =>
      (text) =>
        splice(text, at, length, () => ''),
  ),
  place.map(
    ({ at, length }): Change =>
      (text) =>
        splice(text, at, length, (old) => old + old),
  ),
  fc.tuple(fc.nat(), fc.nat()).map(
    ([a, b]): Change =>
      (text) =>
        doubleLine(text, a, b),
  ),
  fc.nat().map(
    (at): Change =>
      (text) =>
        text.slice(0, at % (text.length + 1)),
  ),
);

const mutated = (request: Bytes): Bytes =>
  fc
    .tuple(request, fc.array(change, { minLength: 1, maxLength: 3 }))
    .map(([text, changes]) => changes.reduce((changing, apply) => apply(changing), text));

function splice(text: string, at: number, length: number, by: (old: string) => string): string {
  const start = at % (text.length + 1);
  const old = text.slice(start, start + length);
  return text.slice(0, start) + (old === '' && length > 0 ? '' : by(old)) + text.slice(start + length);
}

/** Puts a line of a text in once more, elsewhere. */
function doubleLine(text: string, from: number, to: number): string {
  const lines = text.split('\r\n');
  return lines.toSpliced(to % lines.length, 0, lines[from % lines.length]!).join('\r\n');
}

const LENGTHS = [
  '0',
  '1',
  '5',
  '-1',
  '+5',
  ' 5',
  '5 ',
  '0x5',
  '5,5',
  '5, 6',
  '1e1',
  '5.0',
  '05',
  '٥',
  '',
  '99999',
  '18446744073709551617',
];
const CODINGS = [
  'chunked',
  'Chunked',
  'chunked ',
  '\tchunked',
  '\u000bchunked',
  'xchunked',
  'chunked, identity',
  'identity',
  'chunked, chunked',
  'gzip, chunked',
  'chunked;q=1',
  '"chunked"',
  'chunked\r\n ',
  'identity, chunked',
  'chunked,',
  ', chunked',
  'chunk',
  '',
  'rot13',
];
const CODING_NAMES = [
  'transfer-encoding',
  'Transfer-Encoding ',
  ' transfer-encoding',
  'transfer_encoding',
  'x: y\ntransfer-encoding',
  'transfer-encoding\t',
  'x: y\rtransfer-encoding',
];
const CHUNKS = [
  '0\r\n\r\n',
  '5\r\nhello\r\n0\r\n\r\n',
  '5;a=b\r\nhello\r\n0\r\n\r\n',
  '5;a="\n"\r\nhello\r\n0\r\n\r\n',
  '5 \r\nhello\r\n0\r\n\r\n',
  '0x5\r\nhello\r\n0\r\n\r\n',
  '-5\r\nhello\r\n0\r\n\r\n',
  '5\nhello\r\n0\r\n\r\n',
  '5\r\nhelloX\r\n0\r\n\r\n',
  '5\r\nhello0\r\n\r\n',
  '\r\n',
  'ffffffffffffffff\r\n',
  '100000000000000005\r\nhello\r\n0\r\n\r\n',
  '00000000000000000005\r\nhello\r\n0\r\n\r\n',
  '5\r\nhello\r\n0\r\n\n',
  '5\r\nhello\r\n0\r\nx-secret-key: a\r\n\r\n',
  '5\r\nhello\r\n0\r\ncontent-length: 9\r\n\r\n',
  '5\r\nhello\r\n0\r\nbad trailer\r\n\r\n',
  '5;\0\r\nhello\r\n0\r\n\r\n',
  `5;${'e'.repeat(20_000)}\r\nhello\r\n0\r\n\r\n`,
  '5\r\nhello\r\n0\r',
  '5\r\nhello\r\n0',
];

/** Messages that two readers end at different places, with a registration behind them that only one of them sees. */
function smuggling(target: Target): Bytes {
  const body = bodyFor(target);
  const hidden = post(target, { 'content-length': String(body.length) }, body);
  const lengthLine = fc
    .constantFrom(...LENGTHS, String(body.length))
    .map((length) => `content-length: ${length}\r\n`);
  const codingLine = fc
    .tuple(
      fc.constantFrom(...CODING_NAMES.slice(0, 1), ...CODING_NAMES),
      fc.constantFrom('chunked', ...CODINGS),
    )
    .map(([name, coding]) => `${name}: ${coding}\r\n`);
  const framing = fc.oneof(
    fc.tuple(lengthLine, codingLine),
    fc.tuple(codingLine, lengthLine),
    fc.tuple(lengthLine, lengthLine),
    fc.tuple(codingLine, codingLine),
    fc.tuple(lengthLine),
    fc.tuple(codingLine),
  );
  const content = fc.oneof(
    fc.constantFrom(...CHUNKS),
    fc.constantFrom('', '{}', 'hello', body, inChunks(body)),
  );
  const bare = (version: string) => post(target, {}, '').replace('HTTP/1.1', version).slice(0, -2);
  return fc
    .tuple(fc.constantFrom('HTTP/1.1', 'HTTP/1.1', 'HTTP/1.0'), framing, content, fc.constantFrom('', hidden))
    .map(([version, lines, sent, behind]) => `${bare(version)}${lines.join('')}\r\n${sent}${behind}`);
}

const METHODS = [
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'TRACE',
  'CONNECT',
  'PRI',
  'PROPFIND',
  'QUERY',
  'get',
  'G',
  'GET\0',
  '',
  'X'.repeat(300),
];
const PATHS = [
  REGISTER,
  TICKETS,
  `${REGISTRATIONS}x`,
  REGISTRATIONS,
  '/',
  '*',
  '//',
  '/api',
  '/api/',
  '/API/v1/events/tickets',
  '/docs',
  '/health/ready',
  '/api/v1/events%2fregister',
  '/api/v1/events/%72egister',
  '/api//v1/events/tickets',
  '/api/v1/../v1/events/tickets',
  '/api/v1/events/tickets/',
  `${REGISTRATIONS}%00`,
  `${REGISTRATIONS}%ff`,
  `${REGISTRATIONS}%`,
  `${REGISTRATIONS}%zz`,
  `${REGISTRATIONS}${'a'.repeat(10_000)}`,
  `${REGISTRATIONS}a/b`,
  `${REGISTRATIONS}GALA-1001-1-1234567890`,
  `${REGISTRATIONS}GALA-9999999999-999999999999999-9999999999`,
  `${REGISTRATIONS}GALA%2D1%2D1%2D1234567890`,
  PASS,
  `${REGISTRATIONS}%00/pass`,
  `${REGISTRATIONS}${'a'.repeat(10_000)}/pass`,
  SIGNED_EVENT,
  REVOKED,
  `${REVOKED}?after=0&limit=1000`,
  `${REVOKED}?after=-1&limit=0&after=1`,
  `${REVOKED}?after=${'9'.repeat(500)}`,
  `http://api${TICKETS}`,
  `http://evil${REGISTER}`,
  `https://[::1`,
  'api:443',
  `${TICKETS}?${'q'.repeat(10_000)}`,
  `${TICKETS}#a`,
  `${TICKETS};a=b`,
  '/api/v1/__proto__',
  '/api/v1/events/constructor',
  '/api/v1/events/t\u00ebckets',
  '/api/v1/events/tickets?%',
  '/api/v1/openapi.json',
  `/${'../'.repeat(50)}etc/passwd`,
  'api/v1',
];
const VERSIONS = [
  'HTTP/1.1',
  'HTTP/1.0',
  'HTTP/0.9',
  'HTTP/2.0',
  'HTTP/1.2',
  'HTTP/1.10',
  'http/1.1',
  'HTTP/1,1',
  'HTTP/1.1 ',
  'RTSP/1.0',
  '',
];

/** Every method, path and version, with each other. */
function oddLine(target: Target): Bytes {
  const rest = (lines: Record<string, string>) => requestText('', lines).slice(' HTTP/1.1\r\n'.length);
  return fc
    .record({
      method: fc.constantFrom(...METHODS),
      path: fc.oneof(
        fc.constantFrom(...PATHS),
        fc.webUrl(),
        fc.string({ unit: byte }).map((path) => `/api/${path}`),
      ),
      version: fc.constantFrom('HTTP/1.1', 'HTTP/1.1', 'HTTP/1.1', ...VERSIONS),
      space: fc.constantFrom(' ', ' ', ' ', '  ', '\t', ''),
      headers: fc.constantFrom(callerOf(target), callerOf(target), { host: 'api' }, {}),
    })
    .map(
      ({ method, path, version, space, headers }) =>
        `${method}${space}${path}${space}${version}\r\n${rest(headers as Record<string, string>)}`,
    );
}

const HOSTS = [
  'x y',
  '[::1',
  '[::1]:80',
  '[]',
  '::1',
  'api:',
  'api:80:80',
  'a%zz',
  'a%41',
  'a,b',
  'a/b',
  'a@b',
  'ä',
  '',
];

/** Headers that are too many, too long, there twice, folded, or hold what no header may. */
function oddHeaders(target: Target): Bytes {
  const own = Object.entries({ ...callerOf(target), 'idempotency-key': 'once', connection: 'keep-alive' });
  const twice = fc.constantFrom(...own).map(([name, value]) => `${name}: ${value}\r\n`);
  const strange = fc.oneof(
    fc
      .tuple(fc.string({ unit: byte, maxLength: 20 }), fc.string({ unit: byte, maxLength: 40 }))
      .map(([name, value]) => `${name}: ${value}\r\n`),
    fc.constantFrom(4_000, 8_000, 16_000, 17_000, 70_000).map((length) => `extra: ${'x'.repeat(length)}\r\n`),
    fc.constantFrom(50, 300, 2_100, 5_000).map((count) => 'x:\r\n'.repeat(count)),
    fc.constantFrom(
      ' folded\r\n',
      'a: b\r\n c\r\n',
      ': x\r\n',
      'a\r\n',
      'a: \0\r\n',
      'a: b\n',
      'a: b\rc: d\r\n',
      '\r\n',
      'host: other\r\n',
      'host:\r\n',
    ),
    fc
      .constantFrom('close', 'upgrade', 'close, keep-alive', 'x-secret-key', 'CLOSE', 'keep-alive, x')
      .map((option) => `connection: ${option}\r\n`),
    fc.constantFrom('100-continue', '100-Continue', 'x').map((expectation) => `expect: ${expectation}\r\n`),
    fc
      .constantFrom('websocket', 'h2c', 'TLS/1.0')
      .map((protocol) => `connection: upgrade\r\nupgrade: ${protocol}\r\n`),
  );
  const body = bodyFor(target);
  return fc
    .tuple(
      fc.array(fc.oneof(twice, strange), { maxLength: 3 }),
      fc.boolean(),
      fc.boolean(),
      fc.oneof(
        { weight: 2, arbitrary: fc.constant('api') },
        fc.constantFrom(...HOSTS),
        fc.string({ maxLength: 8 }),
      ),
    )
    .map(([lines, isFirst, isPost, host]) => {
      const text = isPost
        ? post(target, { host, 'content-length': String(body.length) }, body)
        : requestText(`GET ${TICKETS}`, { ...callerOf(target), host });
      const at = text.indexOf('\r\n', isFirst ? 0 : text.indexOf('x-event-ref')) + 2;
      return text.slice(0, at) + lines.join('') + text.slice(at);
    });
}

/** Nothing that HTTP/1.1 knows. */
const noise: Bytes = fc.oneof(
  fc.string({ unit: byte, maxLength: 200 }),
  fc.string({ unit: byte, maxLength: 40 }).map((text) => `${text}\r\n\r\n`),
  fc.constantFrom(
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    'GET /api/v1/events/tickets\r\n',
    '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003',
    '\r\n\r\n\r\n',
    '\n\n',
    '\0'.repeat(100),
    'A'.repeat(100_000),
    'PROXY TCP4 1.2.3.4 1.2.3.4 1 2\r\nGET / HTTP/1.1\r\nhost: api\r\n\r\n',
  ),
);
