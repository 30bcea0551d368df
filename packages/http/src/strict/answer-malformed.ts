import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { failure, type FailureCode } from '@floodgate/contract';
import type { FastifyInstance } from 'fastify';
import type { HttpSocket } from './connections.ts';
import { nextRequestId } from '../request-id.ts';

/** The faults of Node's HTTP parser that have a name of their own. */
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

/**
 * Ends the connection with `answer`. Whole requests that came before on it (pipelining) are answered first, so that nobody
 * takes this for the answer to one of them. A request that was answered before its body turned out to be malformed gets no
 * second answer: the client would take that for the answer to its next request.
 */
function endAfterAnswers(socket: HttpSocket, answer: string): void {
  const due = socket._httpMessage;
  const isAnswered = due ? due.headersSent : socket.parser?.incoming?.complete === false;
  if (due?.req.complete) due.once('finish', () => endAfterAnswers(socket, answer));
  else if (isAnswered) socket.end();
  else socket.end(answer);
}

/** Takes over the cases in which Node would answer by itself, without the envelope. */
export function answerOutsideFastify(app: FastifyInstance): void {
  // An expectation nobody knows is ignored, as RFC 9110 (10.1.1) allows.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
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
