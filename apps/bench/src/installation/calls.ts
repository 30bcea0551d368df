import { Agent, request as send } from 'node:http';
import { json } from 'node:stream/consumers';
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

/** Returns a function that posts a call of a partner over one of this many connections. */
export function createCall(
  baseUrl: string,
  { secretKey, eventRef }: Pick<Fixture, 'secretKey' | 'eventRef'>,
  connections: number,
): PartnerCall {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const access = { 'x-secret-key': secretKey, 'x-event-ref': eventRef, 'content-type': 'application/json' };
  return (path, body, more = {}) =>
    new Promise<CallAnswer>((resolve, reject) => {
      const request = send(
        `${baseUrl}/api/v1/events${path}`,
        { method: 'POST', agent, headers: { ...access, ...more } },
        (response) => void json(response).then((value) => resolve(value as CallAnswer), reject),
      );
      request.once('error', reject).end(JSON.stringify(body));
    });
}

/** Returns the data of an answer. Throws if it is not "00". */
export function dataOf(path: string, { responseCode, responseData }: CallAnswer): unknown {
  if (responseCode !== '00') throw new Error(`${path} was answered ${responseCode}`);
  return responseData;
}
