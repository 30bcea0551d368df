/** A request as the standard reads it. Header values and target hold one character per byte. */
export interface StrictRequest {
  method: string;
  target: string;
  version: '1.0' | '1.1';
  headers: readonly (readonly [name: string, value: string])[];
  body: Buffer;
  /** Nothing about it is unusual: a server has no reason to call it malformed. */
  isPlain: boolean;
}

/** What a strict reader makes of the bytes of a connection. */
export interface StrictReading {
  requests: StrictRequest[];
  /**
   * How the bytes end: behind a whole request, within one, with something that is none, or behind a request
   * after which the server must not read on.
   */
  end: 'clean' | 'incomplete' | 'malformed' | 'closed';
  /** The request whose head is whole, but whose body is not there or not well-formed. */
  partial?: StrictRequest;
}

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/**
 * Words with any number of spaces between them, which RFC 9112 (3) lets pass. Node's parser knows RTSP and
 * ICE as well, and does not tell: their messages end where those of HTTP do.
 */
const REQUEST_LINE = /^(\S+) +([!-~\u0080-\u00ff]+) +(HTTP|RTSP|ICE)\/(1\.[01])$/;
const FIELD_VALUE = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;
const CHUNK_SIZE = /^([0-9A-Fa-f]{1,8})[\t ]*(?:;[\t\u0020-\u007e\u0080-\u00ff]*)?$/;

const PLAIN_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
/** Half of what Node accepts; beyond, a server may call the headers too large. */
const PLAIN_HEAD_BYTES = 8_000;
const PLAIN_HEADERS = 100;
const VISIBLE = /^[\u0020-\u007e]*$/;

/**
 * Reads the bytes of a connection as RFC 9112 does, in the strictest way that it allows: whatever two readers
 * could understand differently is malformed. Written apart from any HTTP library, to judge one.
 */
export function readStrictly(bytes: Buffer): StrictReading {
  const text = bytes.toString('latin1');
  const requests: StrictRequest[] = [];
  let at = 0;
  for (;;) {
    // A client that sends empty lines before a request is forgiven (RFC 9112, 2.2).
    while (text[at] === '\r' || text[at] === '\n') at += 1;
    if (at === text.length) return { requests, end: 'clean' };
    const headEnd = text.indexOf('\r\n\r\n', at);
    if (headEnd < 0) return { requests, end: 'incomplete' };
    const head = readHead(text.slice(at, headEnd));
    if (!head) return { requests, end: 'malformed' };
    const body = readBody(head, text, headEnd + 4);
    if (typeof body === 'string') return { requests, end: body, partial: head };
    const isPlain = head.isPlain && !body.hasExtras;
    requests.push({ ...head, isPlain, body: Buffer.from(body.content, 'latin1') });
    at = body.end;
    if (isLast(head)) return { requests, end: 'closed' };
  }
}

/** The values of all headers of a name, in order, separated as a list is. */
export function headerOf({ headers }: StrictRequest, name: string): string | undefined {
  const values = headers.filter(([one]) => one.toLowerCase() === name).map(([, value]) => value);
  return values.length > 0 ? values.join(', ') : undefined;
}

function readHead(text: string): StrictRequest | null {
  const [requestLine = '', ...lines] = text.split('\r\n');
  const [, method = '', target = '', protocol, version = ''] = REQUEST_LINE.exec(requestLine) ?? [];
  const headers = readFields(lines);
  if (!TOKEN.test(method) || !headers) return null;
  const isPlain =
    protocol === 'HTTP' &&
    PLAIN_METHODS.includes(method) &&
    /^\/[!-~]*$/.test(target) &&
    text.length < PLAIN_HEAD_BYTES &&
    headers.length < PLAIN_HEADERS &&
    headers.every(([, value]) => VISIBLE.test(value));
  return { method, target, version: version as '1.0' | '1.1', headers, body: Buffer.alloc(0), isPlain };
}

function readFields(lines: readonly string[]): [name: string, value: string][] | null {
  const fields: [string, string][] = [];
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(0, colon));
    const value = line.slice(colon + 1);
    if (!TOKEN.test(name) || !FIELD_VALUE.test(value)) return null;
    fields.push([name, value.replaceAll(/^[\t ]+|[\t ]+$/g, '')]);
  }
  return fields;
}

interface Body {
  content: string;
  /** Where in the connection's bytes it ends. */
  end: number;
  /** Extensions of chunks, or fields behind them: a server may refuse some of them. */
  hasExtras?: boolean;
}

function readBody(head: StrictRequest, text: string, start: number): Body | 'incomplete' | 'malformed' {
  const lengths = head.headers.filter(([name]) => name.toLowerCase() === 'content-length');
  const coding = headerOf(head, 'transfer-encoding');
  if (coding !== undefined) {
    // Both, or a coding in HTTP/1.0, is what smuggling is made of (RFC 9112, 6.1).
    if (lengths.length > 0 || head.version === '1.0' || !isChunked(coding)) return 'malformed';
    return readChunks(text, start);
  }
  if (lengths.length === 0) return { content: '', end: start };
  const length = lengths[0]![1];
  if (lengths.length > 1 || !/^[0-9]+$/.test(length)) return 'malformed';
  const end = start + Number(length);
  return end <= text.length ? { content: text.slice(start, end), end } : 'incomplete';
}

/** Other codings may stand before it, but no server here undoes them. */
const isChunked = (coding: string) => coding.toLowerCase() === 'chunked';

function readChunks(text: string, start: number): Body | 'incomplete' | 'malformed' {
  let content = '';
  let at = start;
  let hasExtras = false;
  for (;;) {
    const lineEnd = text.indexOf('\r\n', at);
    if (lineEnd < 0) return 'incomplete';
    const size = CHUNK_SIZE.exec(text.slice(at, lineEnd));
    if (!size) return 'malformed';
    hasExtras ||= size[0].includes(';');
    at = lineEnd + 2;
    const length = Number.parseInt(size[1]!, 16);
    if (length === 0) return readTrailers(text, at, { content, hasExtras });
    if (at + length + 2 > text.length) return 'incomplete';
    content += text.slice(at, at + length);
    at += length + 2;
    if (text.slice(at - 2, at) !== '\r\n') return 'malformed';
  }
}

function readTrailers(
  text: string,
  start: number,
  body: Omit<Body, 'end'>,
): Body | 'incomplete' | 'malformed' {
  if (text.startsWith('\r\n', start)) return { ...body, end: start + 2 };
  const end = text.indexOf('\r\n\r\n', start);
  if (end < 0) return 'incomplete';
  const isWellFormed = readFields(text.slice(start, end).split('\r\n')) !== null;
  return isWellFormed ? { ...body, end: end + 4, hasExtras: true } : 'malformed';
}

function isLast(head: StrictRequest): boolean {
  const options = (headerOf(head, 'connection') ?? '').toLowerCase().split(/[ \t]*,[ \t]*/);
  if (options.includes('close') || head.method === 'CONNECT') return true;
  return head.version === '1.0' && !options.includes('keep-alive');
}
