import { STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { failure, type FailureCode } from '@floodgate/contract';
import type { FastifyInstance } from 'fastify';
import { nextRequestId } from './answer-errors.ts';

const SWEEP_MS = 20;

// Undocumented fields of Node's sockets, unchanged for years, and tested: the response that is due next, and the request that the
// parser reads or has read last.
interface HttpSocket extends Socket {
  _httpMessage?: ServerResponse | null;
  parser?: { incoming?: IncomingMessage | null } | null;
}

/**
 * Makes `app.close()` answer every request that was read completely, and close every connection. After `patienceMs`, connections
 * on which a client still sends a request, or does not read its answer, are cut.
 */
export function closeInOrder(app: FastifyInstance, patienceMs: number): void {
  // Node's own list lacks those that asked for CONNECT.
  const open = new Set<HttpSocket>();
  app.server.on('connection', (socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  app.addHook('preClose', (done) => {
    const patientUntil = performance.now() + patienceMs;
    const sweep = setInterval(() => {
      // Connections that were busy when the stop began become idle after their answer, and would be kept alive.
      app.server.closeIdleConnections();
      if (performance.now() < patientUntil) return;
      for (const socket of open) {
        const due = socket._httpMessage;
        if (!due?.req.complete || due.writableEnded) socket.destroy();
      }
    }, SWEEP_MS).unref();
    app.server.on('close', () => clearInterval(sweep));
    done();
  });
}

const FAULTS: Record<string, readonly [status: number, message: string]> = {
  HPE_HEADER_OVERFLOW: [431, 'The headers are too large'],
  ERR_HTTP_REQUEST_TIMEOUT: [400, 'The request did not arrive in time'],
};

/** Answers malformed HTTP in the envelope, and closes the connection. */
export function answerMalformedHttp(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const [status, message] = FAULTS[error.code ?? ''] ?? [400, 'The request is not well-formed HTTP'];
  endAfterAnswers(socket, rawAnswer('10', status, message));
}

// Complete requests that came before on the connection are answered first, so that the client does not take this for one of their
// answers. A request that was answered before its body turned out to be malformed gets no second answer: the client would take
// that for the answer to its next request.
function endAfterAnswers(socket: HttpSocket, answer: string): void {
  const due = socket._httpMessage;
  const isAnswered = due ? due.headersSent : socket.parser?.incoming?.complete === false;
  if (due?.req.complete) due.once('finish', () => endAfterAnswers(socket, answer));
  else if (isAnswered) socket.end();
  else socket.end(answer);
}

/** Handles Expect and CONNECT, which Node would answer by itself, without the envelope or too early. */
export function answerOutsideFastify(app: FastifyInstance): void {
  // Unknown expectations are ignored, as RFC 9110 (10.1.1) allows.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  // "100 Continue" is sent when the route begins to read the body. A request that is refused by its head is answered at once, and
  // Node closes its connection: it cannot tell whether the next bytes are the body or another request.
  app.server.on('checkContinue', (request, response) => {
    request.once('resume', () => {
      // After an answer Node reads on by itself, to drop the rest.
      if (!response.headersSent) response.writeContinue();
    });
    app.server.emit('request', request, response);
  });
  app.server.on('connect', (_request, socket) => {
    // Node has removed its own listeners, and an error without a listener would end the process.
    socket.on('error', () => {});
    socket.on('timeout', () => socket.destroy());
    // The client may keep its side open for as long as it likes.
    socket.on('finish', () => socket.destroy());
    // Unread data would make the operating system discard the answer.
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
