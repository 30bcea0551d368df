import { once } from 'node:events';
import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';

/**
 * Receives the status of an answer, e.g. "200", or "cut" if the connection ended too early, and the last
 * chunk of the answer, usually all of it. The chunk is valid only during the call.
 */
type OnAnswer = (status: string, piece: Buffer) => void;

const NOTHING: Buffer = Buffer.alloc(0);

const HEADERS_END = Buffer.from('\r\n\r\n');
const READ_BYTES = 64 * 1024;
/** Less than a server's accept queue. */
export const OPENED_AT_ONCE = 256;
/** Shared by all sockets, each only during its callback, so that an answer needs no allocation. */
const readBuffer = Buffer.alloc(READ_BYTES);

export type Connection = Awaited<ReturnType<typeof open>>;

/**
 * Opens a keep-alive connection on a bare socket: a full HTTP client would use more CPU time than the
 * measured service. Requests can be pipelined. Answers must have a Content-Length, as those of Fastify
 * routes.
 */
async function open(baseUrl: string) {
  const { protocol, hostname, port } = new URL(baseUrl);
  const isTls = protocol === 'https:';
  /** Callbacks of unanswered requests, in order. */
  const unanswered: OnAnswer[] = [];
  // Of an answer that arrives in several chunks.
  let status = '';
  let missingBytes = 0;
  const cutAll = () => {
    for (const onAnswer of unanswered.splice(0)) onAnswer('cut', NOTHING);
  };
  const read = (chunk: Buffer) => {
    // Requests that follow the answers of one packet leave in one packet.
    socket.cork();
    for (let rest = chunk; rest.length > 0;) {
      if (missingBytes === 0) [status, missingBytes] = readHead(rest);
      if (Number.isNaN(missingBytes)) return socket.destroy();
      const piece = rest.length <= missingBytes ? rest : rest.subarray(0, missingBytes);
      rest = rest.subarray(piece.length);
      missingBytes -= piece.length;
      if (missingBytes === 0) unanswered.shift()?.(status, piece);
    }
    return socket.uncork();
  };
  const callback = (bytes: number) => {
    read(readBuffer.subarray(0, bytes));
    return true;
  };
  const options = {
    host: hostname,
    port: Number(port || (isTls ? 443 : 80)),
    noDelay: true,
    onread: { buffer: readBuffer, callback },
  };
  const socket = isTls ? connectTls({ ...options, servername: hostname }) : connect(options);
  socket.on('error', () => {});
  socket.on('close', cutAll);
  await once(socket, isTls ? 'secureConnect' : 'connect');
  return {
    isOpen: () => !socket.destroyed,
    close: () => socket.destroy(),
    /** Sends a request. Calls back with the status of the answer. */
    send(request: Buffer, onAnswer: OnAnswer) {
      unanswered.push(onAnswer);
      if (socket.destroyed) setImmediate(cutAll);
      else socket.write(request);
    },
  };
}

/** Returns the status and the length of the answer that begins here. The length is NaN if it is unknown. */
function readHead(chunk: Buffer): [string, number] {
  const end = chunk.indexOf(HEADERS_END);
  const headers = chunk.toString('latin1', 0, end);
  const length = /content-length: (\d+)/i.exec(headers)?.[1];
  const status = headers.slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length);
  return [status, end === -1 ? Number.NaN : end + HEADERS_END.length + Number(length)];
}

/** Opens connections. Returns those that could be opened. */
export async function openConnections(baseUrl: string, count: number) {
  const opened: Connection[] = [];
  for (let missing = count; missing > 0; missing -= OPENED_AT_ONCE) {
    const atOnce = Math.min(OPENED_AT_ONCE, missing);
    const opening = Array.from({ length: atOnce }, () => open(baseUrl));
    const settled = await Promise.allSettled(opening);
    opened.push(...settled.flatMap((one) => (one.status === 'fulfilled' ? one.value : [])));
  }
  return opened;
}
