import { STATUS_CODES, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { failure, type FailureCode } from '@floodgate/contract';
import type { FastifyInstance } from 'fastify';
import { nextRequestId } from '../answer-errors.ts';

const SWEEP_MS = 20;

// What Node keeps on a socket: the response that is due, until it has finished and the next one takes its place, and the
// parser with the request that it reads or has read last. Undocumented, but unchanged for years, and tested.
export interface HttpSocket extends Socket {
  _httpMessage?: ServerResponse | null;
  parser?: { incoming?: IncomingMessage | null } | null;
}

const openConnections = new WeakMap<Server, Set<HttpSocket>>();

/** Keeps sight of a server's connections, also of those that Node loses: the ones that asked for CONNECT. */
export function trackConnections(server: Server): void {
  const open = new Set<HttpSocket>();
  server.on('connection', (socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  openConnections.set(server, open);
}

/**
 * Stops accepting, answers what is in flight and closes every connection. What a client has not sent, or not taken,
 * within `patienceMs` is given up; a request that was read completely is answered however long that takes.
 */
export async function closeServer(app: FastifyInstance, patienceMs = 1_000): Promise<void> {
  const patientUntil = performance.now() + patienceMs;
  const sweep = setInterval(() => {
    // Connections that were busy when the stop began fall idle after their answer, and would be kept alive.
    app.server.closeIdleConnections();
    // Node itself no longer looks for slow clients.
    if (performance.now() < patientUntil) return;
    for (const socket of openConnections.get(app.server)!) {
      const due = socket._httpMessage;
      // Nothing is due either where the answer was given and the client does not take it.
      if (!due?.req.complete || due.writableEnded) socket.destroy();
    }
  }, SWEEP_MS);
  await app.close();
  clearInterval(sweep);
}

/** Closes connections that were idle for too long, as Node does, but none on which a request waits to be read. */
export function closeIdleConnections(server: Server): void {
  server.on('timeout', (socket) => {
    const bytesRead = socket.bytesRead;
    // Where the process was held up, timers run before anything is read. By then it has read what there was.
    setImmediate(() => {
      if (socket.bytesRead === bytesRead) socket.destroy();
    });
  });
}

const FAULTS: Record<string, readonly [status: number, message: string]> = {
  HPE_HEADER_OVERFLOW: [431, 'The headers are too large'],
  ERR_HTTP_REQUEST_TIMEOUT: [400, 'The request did not arrive in time'],
};

/** Answers what never became a request, in the envelope as well, and closes the connection. */
export function answerMalformedHttp(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const [status, message] = FAULTS[error.code ?? ''] ?? [400, 'The request is not well-formed HTTP'];
  endAfterAnswers(socket, rawAnswer('10', status, message));
}

// Whole requests that came before on the connection (pipelining) are answered first, so that nobody takes this for the answer
// to one of them. A request that was answered before its body turned out to be malformed gets no second answer: the client
// would take that for the answer to its next request.
function endAfterAnswers(socket: HttpSocket, answer: string): void {
  const due = socket._httpMessage;
  const isAnswered = due ? due.headersSent : socket.parser?.incoming?.complete === false;
  if (due?.req.complete) due.once('finish', () => endAfterAnswers(socket, answer));
  else if (isAnswered) socket.end();
  else socket.end(answer);
}

/** Takes over the cases in which Node would answer by itself, without the envelope or too early. */
export function answerOutsideFastify(app: FastifyInstance): void {
  // An expectation nobody knows is ignored, as RFC 9110 (10.1.1) allows.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  // A body is invited when its route begins to read it. A request that is refused by its head is answered at once, and Node
  // closes its connection: without an invitation nobody can tell whether the next bytes are the body or another request.
  app.server.on('checkContinue', (request, response) => {
    request.once('resume', () => {
      // Behind an answer it is Node that reads on, to drop the rest.
      if (!response.headersSent) response.writeContinue();
    });
    app.server.emit('request', request, response);
  });
  app.server.on('connect', (_request, socket) => {
    // Node has taken its own listeners off, and an error that nobody listens to would end the process.
    socket.on('error', () => {});
    socket.on('timeout', () => socket.destroy());
    // The client may keep its side open for as long as it likes.
    socket.on('finish', () => socket.destroy());
    // What it sends on is dropped: unread, it would have the system discard the answer.
    socket.resume();
    endAfterAnswers(socket as Socket, rawAnswer('60', 405, 'This route answers no CONNECT'));
  });
}

function rawAnswer(code: FailureCode, status: number, message: string): string {
  const body = JSON.stringify(failure(code, message));
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${nextRequestId()}`,
    'connection: close',
    '',
    body,
  ].join('\r\n');
}
