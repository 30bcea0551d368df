import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/**
 * Status of an answer, e.g. "200", or "cut" where the connection ended before it was complete; and the last piece of it
 * that arrived, as a rule the whole, to be read within the call.
 */
export type OnAnswer = (status: string, piece: Buffer) => void;

const NOTHING: Buffer = Buffer.alloc(0);

const HEADERS_END = Buffer.from('\r\n\r\n');
const READ_BYTES = 64 * 1024;
/** Handed out to one socket at a time, for the length of its callback: nothing is allocated for an answer. */
const readBuffer = Buffer.alloc(READ_BYTES);

/**
 * A keep-alive connection. On a bare socket: a full HTTP client would take more of the machine than what is measured. Requests may
 * be sent before those ahead of them are answered. Understands answers with a Content-Length, which is what a Fastify route gives.
 */
export class Connection {
  readonly #socket: Socket;
  /** Of the requests that are not answered, in order. */
  readonly #unanswered: OnAnswer[] = [];
  /** Of an answer that arrives in pieces: its status and the bytes that are still to come. */
  #status = '';
  #missingBytes = 0;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('error', () => {});
    socket.on('close', () => this.#cutAll());
  }

  static async open(baseUrl: string): Promise<Connection> {
    const { hostname, port } = new URL(baseUrl);
    const socket = connect({
      host: hostname,
      port: Number(port),
      noDelay: true,
      onread: {
        buffer: readBuffer,
        callback: (bytes) => {
          connection.#read(readBuffer.subarray(0, bytes));
          return true;
        },
      },
    });
    const connection = new Connection(socket);
    await once(socket, 'connect');
    return connection;
  }

  /** Sends a request and calls back with the answer's status. */
  send(request: Buffer, onAnswer: OnAnswer): void {
    this.#unanswered.push(onAnswer);
    if (this.#socket.destroyed) setImmediate(() => this.#cutAll());
    else this.#socket.write(request);
  }

  get isOpen(): boolean {
    return !this.#socket.destroyed;
  }

  close(): void {
    this.#socket.destroy();
  }

  #read(chunk: Buffer): void {
    // What is sent upon the answers of one packet goes in one as well.
    this.#socket.cork();
    for (let rest = chunk; rest.length > 0;) {
      const bytes = this.#missingBytes > 0 ? this.#missingBytes : this.#readHead(rest);
      if (bytes === null) return this.close();
      const piece = rest.length <= bytes ? rest : rest.subarray(0, bytes);
      rest = rest.subarray(piece.length);
      this.#missingBytes = bytes - piece.length;
      if (this.#missingBytes === 0) this.#unanswered.shift()?.(this.#status, piece);
    }
    this.#socket.uncork();
  }

  /** Returns how long the answer is that begins here; null where nobody can tell. */
  #readHead(chunk: Buffer): number | null {
    const end = chunk.indexOf(HEADERS_END);
    const headers = chunk.toString('latin1', 0, end);
    const length = /content-length: (\d+)/i.exec(headers)?.[1];
    if (end === -1 || length === undefined) return null;
    this.#status = headers.slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length);
    return end + HEADERS_END.length + Number(length);
  }

  #cutAll(): void {
    for (const onAnswer of this.#unanswered.splice(0)) onAnswer('cut', NOTHING);
  }
}
