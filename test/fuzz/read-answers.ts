/** An answer as it came over the wire. */
export interface WireAnswer {
  status: number;
  headers: Map<string, string>;
  text: string;
}

/** Something that must not be, in words. */
export class Finding extends Error {}

const STATUS_LINE = /^HTTP\/1\.1 ([1-5][0-9]{2}) [\u0020-\u007e]*$/;
const HEADER = /^([!#$%&'*+.^_`|~0-9a-z-]+): ([\u0020-\u007e]*)$/i;

/**
 * Takes whole answers off what a server sent: `methods` are those of the requests, in order. Answers what is
 * left, too. Throws a Finding where a strict client could not read them.
 */
export function readAnswers(
  received: Buffer,
  methods: readonly string[],
): { answers: WireAnswer[]; rest: Buffer } {
  const answers: WireAnswer[] = [];
  let rest = received;
  for (;;) {
    const headEnd = rest.indexOf('\r\n\r\n');
    if (headEnd < 0) return { answers, rest };
    const { status, headers } = readHead(rest.toString('latin1', 0, headEnd));
    const bodyStart = headEnd + 4;
    if (status < 200) {
      rest = rest.subarray(bodyStart);
      continue;
    }
    const length = headers.get('content-length') ?? (status === 204 || status === 304 ? '0' : '');
    if (!/^[0-9]+$/.test(length)) throw new Finding('an answer has no Content-Length');
    // What is refused before it is a request has a body, though it may begin with HEAD.
    const isBodiless = methods[answers.length] === 'HEAD' && rest[bodyStart] !== 0x7b;
    const end = isBodiless ? bodyStart : bodyStart + Number(length);
    if (end > rest.length) return { answers, rest };
    const text = new TextDecoder('utf-8', { fatal: true }).decode(rest.subarray(bodyStart, end));
    answers.push({ status, headers, text });
    rest = rest.subarray(end);
  }
}

function readHead(head: string): Pick<WireAnswer, 'status' | 'headers'> {
  const [statusLine = '', ...lines] = head.split('\r\n');
  const status = STATUS_LINE.exec(statusLine)?.[1];
  if (!status) throw new Finding(`no status line: ${statusLine}`);
  const headers = new Map<string, string>();
  for (const line of lines) {
    const [, name, value] = HEADER.exec(line) ?? [];
    if (name === undefined || value === undefined) throw new Finding(`no header of an answer: ${line}`);
    if (headers.has(name.toLowerCase())) throw new Finding(`a header comes twice in an answer: ${line}`);
    headers.set(name.toLowerCase(), value);
  }
  return { status: Number(status), headers };
}
