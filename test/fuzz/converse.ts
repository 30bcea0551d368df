import { connect } from 'node:net';
import { Finding, readAnswers, type WireAnswer } from './read-answers.ts';
import type { StrictReading } from './read-strictly.ts';

/** The API's request timeout and what a registration may wait for its answer here, and as long again for a busy machine. */
const HANGS_AFTER_MS = 60_000;

/**
 * Sends the bytes on a connection of their own and answers everything that came back until the server closed
 * it. The client ends its side once all requests are answered, unless the bytes end in a way after which the
 * server has to close by itself. Throws a Finding where neither answers nor close come.
 */
export async function converse(
  baseUrl: string,
  bytes: Buffer,
  reading: StrictReading,
): Promise<WireAnswer[]> {
  const methods = reading.requests.map(({ method }) => method);
  const received = await receive(baseUrl, bytes, (soFar) => {
    const closesByItself = reading.end === 'malformed' || reading.end === 'closed';
    const { answers } = readAnswers(soFar, methods);
    // One answer too many shows enough.
    return answers.length >= methods.length + (closesByItself ? 1 : 0);
  });
  if (received === null) throw new Finding(`a hang: neither answered nor closed in ${HANGS_AFTER_MS} ms`);
  // What is no whole request may have begun with HEAD.
  const { answers, rest } = readAnswers(received, [...methods, 'HEAD']);
  if (rest.length > 0) throw new Finding(`half an answer: ${rest.toString('latin1')}`);
  return answers;
}

/** Sends the bytes on a connection of their own and resets it as soon as they have left. */
export function sendAndReset(baseUrl: string, bytes: Buffer): Promise<void> {
  const { hostname, port } = new URL(baseUrl);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port) });
    socket.on('connect', () => socket.write(bytes, () => socket.resetAndDestroy()));
    // A server that refuses early may reset it first; one that is gone accepts nothing.
    socket.on('error', (error) => {
      if (socket.connecting || socket.bytesWritten === 0) reject(error);
    });
    socket.on('close', () => resolve());
  });
}

/** Everything that the server sent, or null where it does not end. */
function receive(
  baseUrl: string,
  bytes: Buffer,
  isAnswered: (received: Buffer) => boolean,
): Promise<Buffer | null> {
  const { hostname, port } = new URL(baseUrl);
  return new Promise((resolve, reject) => {
    let received = Buffer.alloc(0);
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    const end = (outcome: Buffer | null) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(outcome);
    };
    const endWhenAnswered = () => {
      try {
        if (isAnswered(received)) socket.end();
      } catch (error) {
        socket.destroy();
        reject(error);
      }
    };
    const timer = setTimeout(() => end(null), HANGS_AFTER_MS);
    socket.on('connect', () => {
      socket.write(bytes);
      endWhenAnswered();
    });
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk as Buffer]);
      endWhenAnswered();
    });
    // A server that refuses early may reset what it has not read; what it sent before is here already.
    socket.on('error', () => end(received));
    socket.on('end', () => end(received));
    socket.on('close', () => end(received));
  });
}
