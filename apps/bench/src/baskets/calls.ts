import { openConnections, type Connection } from '@floodgate/rehearsal/load/connection';
import { rawRequest } from '@floodgate/rehearsal/load/run-load';
import type { Fixture } from '@floodgate/test/harness/fixture.ts';

export interface CallAnswer {
  responseCode: string;
  responseData: unknown;
}

export type PartnerCall = (
  path: string,
  body: object,
  headers?: Record<string, string>,
) => Promise<CallAnswer>;

const HEADERS_END = '\r\n\r\n';

/**
 * Returns a function that posts a call of a partner over one of this many connections. They are those of the
 * load generator: an HTTP client used more CPU time than the service that is measured.
 */
export function createCall(
  baseUrl: string,
  { secretKey, eventRef }: Pick<Fixture, 'secretKey' | 'eventRef'>,
  connections: number,
): PartnerCall {
  const idle: Connection[] = [];
  const waiting: ((connection: Connection) => void)[] = [];
  const access = { 'x-secret-key': secretKey, 'x-event-ref': eventRef };

  let opened = 0;

  async function take(): Promise<Connection> {
    const connection = idle.pop();
    if (connection?.isOpen()) return connection;
    if (!connection && opened === connections) return new Promise((resolve) => waiting.push(resolve));
    // The first ones, and one that the server has closed because it was idle.
    if (!connection) opened += 1;
    const [fresh] = await openConnections(baseUrl, 1);
    if (!fresh) throw new Error(`${baseUrl} accepts no connections`);
    return fresh;
  }

  function release(connection: Connection) {
    const next = waiting.shift();
    if (next) next(connection);
    else idle.push(connection);
  }

  return async (path, body, more = {}) => {
    const connection = await take();
    const request = rawRequest(baseUrl, {
      method: 'POST',
      path: `/api/v1/events${path}`,
      headers: { ...access, ...more },
      body: JSON.stringify(body),
    });
    return new Promise((resolve, reject) => {
      connection.send(request, (status, piece) => {
        const answer = piece.toString();
        release(connection);
        try {
          resolve(JSON.parse(answer.slice(answer.indexOf(HEADERS_END))) as CallAnswer);
        } catch (cause) {
          reject(new Error(`${path} was answered ${status} without JSON`, { cause }));
        }
      });
    });
  };
}

/** Returns the data of an answer. Throws if it is not "00". */
export function dataOf(path: string, { responseCode, responseData }: CallAnswer): unknown {
  if (responseCode !== '00') throw new Error(`${path} was answered ${responseCode}`);
  return responseData;
}
