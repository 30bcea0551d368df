import type { IncomingMessage, ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { setImmediate as yieldToEventLoop, setTimeout as delay } from 'node:timers/promises';
import { failure, type FailureCode } from '@floodgate/contract';
import { http } from '@floodgate/service';
import type { FastifyInstance } from 'fastify';
import { nextRequestId } from './answer-errors.ts';

const SWEEP_MS = 20;
/** A turn of the event loop that did nothing is shorter. */
const QUIET_TURN_MS = 0.02;
const QUIET_WITHIN_MS = 1_000;

// Undocumented fields of Node's sockets, unchanged for years and covered by tests: the response that is due
// next, and the request that the parser is reading or has read last.
interface HttpSocket extends Socket {
  _httpMessage?: ServerResponse | null;
  parser?: { incoming?: IncomingMessage | null } | null;
}

/**
 * Makes `app.close()` answer every request that was received completely, and close every connection. After
 * `patienceMs` it destroys a connection whose client is still sending a request or does not read its answer.
 */
export function closeInOrder(app: FastifyInstance, patienceMs: number) {
  // Node's own list does not have connections with a CONNECT request.
  const open = new Set<HttpSocket>();
  app.server.on('connection', (socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  app.addHook('preClose', (done) => {
    const patientUntil = performance.now() + patienceMs;
    const sweep = setInterval(() => {
      // A busy connection becomes idle after its answer. Keep-alive would then leave it open.
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

/**
 * Accepts no more connections, and ends each open one with its next answer, for `ms`. A proxy that closes
 * idle connections sooner has none left when the server closes them, so no request gets lost between the two.
 */
export async function drain({ server }: FastifyInstance, ms: number) {
  if (ms === 0) return;
  await quietTurn();
  server.maxRequestsPerSocket = 1;
  // The method of HTTP servers also closes idle connections.
  NetServer.prototype.close.call(server);
  await delay(ms);
}

/**
 * Waits for a turn of the event loop that did nothing, so also accepted nothing. Linux resets the connections
 * that a closed listener has not accepted, and a proxy may have sent a call on one.
 */
async function quietTurn() {
  const giveUpAt = performance.now() + QUIET_WITHIN_MS;
  for (let last = performance.now(); ;) {
    await yieldToEventLoop();
    const now = performance.now();
    if (now - last < QUIET_TURN_MS || now > giveUpAt) return;
    last = now;
  }
}

const FAULTS: Record<string, readonly [status: number, message: string]> = {
  HPE_HEADER_OVERFLOW: [431, 'The headers are too large'],
  ERR_HTTP_REQUEST_TIMEOUT: [400, 'The request did not arrive in time'],
};

/** Answers malformed HTTP with the envelope, and closes the connection. */
export function answerMalformedHttp(error: NodeJS.ErrnoException, socket: Socket): void {
  // A browser opens connections in advance. It would match an answer on an unused one to its first request.
  const isUnused = socket.bytesRead === 0;
  if (error.code === 'ECONNRESET' || !socket.writable || isUnused) return void socket.destroy();
  const [status, message] = FAULTS[error.code ?? ''] ?? [400, 'The request is not well-formed HTTP'];
  endAfterAnswers(socket, rawAnswer('10', status, message));
}

// Earlier complete requests of the connection are answered first, because the client matches answers to
// requests by their order. A request that was answered before its body turned out to be malformed gets no
// second answer: the client would match it to its next request.
function endAfterAnswers(socket: HttpSocket, answer: string) {
  const due = socket._httpMessage;
  const isAnswered = due ? due.headersSent : socket.parser?.incoming?.complete === false;
  if (due?.req.complete) due.once('finish', () => endAfterAnswers(socket, answer));
  else if (isAnswered) socket.end();
  else socket.end(answer);
}

/** Handles Expect and CONNECT. Node would answer them without the envelope or too early. */
export function answerOutsideFastify(app: FastifyInstance) {
  // Unknown expectations are ignored, as RFC 9110 (10.1.1) allows.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  // "100 Continue" is sent when the route begins to read the body. A request that is refused because of its
  // head is answered immediately. Node then closes the connection, because the next bytes can be the body or
  // another request.
  app.server.on('checkContinue', (request, response) => {
    request.once('resume', () => {
      // After an answer, Node also resumes the request, to discard the rest.
      if (!response.headersSent) response.writeContinue();
    });
    app.server.emit('request', request, response);
  });
  app.server.on('connect', (_request, socket) => {
    // Node has removed its own listeners, and an error without a listener would end the process.
    socket.on('error', () => {});
    socket.on('timeout', () => socket.destroy());
    // The client could keep its side open indefinitely.
    socket.on('finish', () => socket.destroy());
    // Unread data would make the operating system discard the answer.
    socket.resume();
    endAfterAnswers(socket as Socket, rawAnswer('60', 405, 'This route does not support CONNECT'));
  });
}

function rawAnswer(code: FailureCode, status: number, message: string) {
  const body = JSON.stringify(failure(code, message));
  return [
    `HTTP/1.1 ${status} ${http.STATUS_CODES[status]}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${nextRequestId()}`,
    'connection: close',
    '',
    body,
  ].join('\r\n');
}
