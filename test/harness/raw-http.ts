import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Answer } from './partner-client.ts';
import { keepPrivate, privateIn } from './private-data.ts';
import { waitUntil } from './wait-until.ts';

const HEAD_END = '\r\n\r\n';

/** A connection on which a test controls every byte. */
export class RawConnection {
  readonly #socket: Socket;
  #received = Buffer.alloc(0);
  #isClosed = false;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk) => (this.#received = Buffer.concat([this.#received, chunk as Buffer])));
    socket.on('error', () => {});
    socket.on('close', () => (this.#isClosed = true));
  }

  /** With `allowHalfOpen`, the client's side stays open when the server ends its own. */
  static async open(baseUrl: string, { allowHalfOpen = false } = {}): Promise<RawConnection> {
    const { hostname, port } = new URL(baseUrl);
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen });
    await once(socket, 'connect');
    return new RawConnection(socket);
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  send(text: string, encoding: 'utf8' | 'latin1' = 'utf8'): void {
    this.#socket.write(text, encoding);
  }

  /** Resolves with the next complete answer, and removes it from the received text. */
  answer(): Promise<Answer> {
    return waitUntil('an answer', () => {
      const answer = this.#takeAnswer();
      if (!answer && this.#isClosed)
        throw new Error(`closed without an answer: ${this.#received.toString()}`);
      return answer;
    });
  }

  /** Resolves when this text has arrived, and removes it from the received text. */
  async received(text: string): Promise<void> {
    await waitUntil(text, () => this.#received.length >= text.length);
    const arrived = this.#received.toString('latin1', 0, text.length);
    if (arrived !== text) throw new Error(`arrived instead: ${arrived}`);
    this.#received = this.#received.subarray(text.length);
  }

  /** Resolves when the server has closed the connection, with the remaining received text. */
  async closed(): Promise<string> {
    await waitUntil('the server closes the connection', () => this.#isClosed);
    return this.#received.toString();
  }

  close(): void {
    this.#socket.destroy();
  }

  /** Closes with a TCP reset, like a process that dies with unread data. */
  reset(): void {
    this.#socket.resetAndDestroy();
  }

  #takeAnswer(): Answer | undefined {
    const headLength = this.#received.indexOf(HEAD_END);
    if (headLength < 0) return undefined;
    const [statusLine, ...headerLines] = this.#received.toString('latin1', 0, headLength).split('\r\n');
    const headers = new Headers(headerLines.map((line) => line.split(/: ?(.*)/s, 2) as [string, string]));
    const bodyStart = headLength + HEAD_END.length;
    const end = bodyStart + Number(headers.get('content-length'));
    if (this.#received.length < end) return undefined;
    const text = this.#received.toString('utf8', bodyStart, end);
    this.#received = this.#received.subarray(end);
    const isJson = headers.get('content-type')?.startsWith('application/json');
    const body = isJson ? JSON.parse(text) : {};
    return { status: Number(statusLine!.split(' ')[1]), headers, text, body };
  }
}

/** Sends text on a new connection and returns the first answer. */
export async function exchange(baseUrl: string, text: string): Promise<Answer> {
  const connection = await RawConnection.open(baseUrl);
  try {
    connection.send(text);
    return await connection.answer();
  } finally {
    connection.close();
  }
}

/** Returns the text of a request. Host and Content-Length must be given. */
export function requestText(line: string, headers: Record<string, string>, body = ''): string {
  keepPrivate(privateIn(headers, body));
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${line} HTTP/1.1\r\n${lines.join('')}\r\n${body}`;
}
