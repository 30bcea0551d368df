import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

/**
 * Receives the status of an answer, e.g. "200", or "cut" if the connection ended too early, and the last chunk of the answer, usually all
 * of it. The chunk is valid only during the call.
 */
type OnAnswer = (status: string, piece: Buffer) => void;

const NOTHING: Buffer = Buffer.alloc(0);

const HEADERS_END = Buffer.from('\r\n\r\n');
const READ_BYTES = 64 * 1024;
/** Less than a server's accept queue. */
export const OPENED_AT_ONCE = 256;
/** Shared by all sockets, each only during its callback, so that an answer needs no allocation. */
const readBuffer = Buffer.alloc(READ_BYTES);

/**
 * A keep-alive connection on a bare socket: a full HTTP client would use more CPU time than the measured service. Requests can be pipelined.
 * Answers must have a Content-Length, as those of Fastify routes.
 */
export class Connection {
  readonly #socket: Socket;
  /** Callbacks of unanswered requests, in order. */
  readonly #unanswered: OnAnswer[] = [];
  /** Status and missing bytes of an answer that arrives in several chunks. */
  #status = '';
  #missingBytes = 0;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('error', () => {});
    socket.on('close', () => this.#cutAll());
  }

  static async open(baseUrl: string) {
    const { protocol, hostname, port } = new URL(baseUrl);
    const isTls = protocol === 'https:';
    const callback = (bytes: number) => {
      connection.#read(readBuffer.subarray(0, bytes));
      return true;
    };
    const options = {
      host: hostname,
      port: Number(port || (isTls ? 443 : 80)),
      noDelay: true,
      onread: { buffer: readBuffer, callback },
    };
    const socket = isTls ? connectTls({ ...options, servername: hostname }) : connect(options);
    const connection = new Connection(socket);
    await once(socket, isTls ? 'secureConnect' : 'connect');
    return connection;
  }

  /** Sends a request. Calls back with the status of the answer. */
  send(request: Buffer, onAnswer: OnAnswer) {
    this.#unanswered.push(onAnswer);
    if (this.#socket.destroyed) setImmediate(() => this.#cutAll());
    else this.#socket.write(request);
  }

  get isOpen() {
    return !this.#socket.destroyed;
  }

  close() {
    this.#socket.destroy();
  }

  #read(chunk: Buffer) {
    // Requests that follow the answers of one packet leave in one packet.
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

  /** Returns the length of the answer that begins here, or null if it is unknown. */
  #readHead(chunk: Buffer) {
    const end = chunk.indexOf(HEADERS_END);
    const headers = chunk.toString('latin1', 0, end);
    const length = /content-length: (\d+)/i.exec(headers)?.[1];
    if (end === -1 || length === undefined) return null;
    this.#status = headers.slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length);
    return end + HEADERS_END.length + Number(length);
  }

  #cutAll() {
    for (const onAnswer of this.#unanswered.splice(0)) onAnswer('cut', NOTHING);
  }
}

/** Opens connections. Returns those that could be opened. */
export async function openConnections(baseUrl: string, count: number) {
  const opened: Connection[] = [];
  for (let missing = count; missing > 0; missing -= OPENED_AT_ONCE) {
    const atOnce = Math.min(OPENED_AT_ONCE, missing);
    const opening = Array.from({ length: atOnce }, () => Connection.open(baseUrl));
    const settled = await Promise.allSettled(opening);
    opened.push(...settled.flatMap((one) => (one.status === 'fulfilled' ? one.value : [])));
  }
  return opened;
}
