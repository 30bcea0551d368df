import { batchLoader, readThroughCache, type Database } from '@floodgate/database';
import type { LimitedCaller } from '@floodgate/partners/rate-limit';
import type { Clock } from '@floodgate/service';
import type { FastifyRequest as Request, onRequestAsyncHookHandler } from 'fastify';
import { findByTokens, parseToken, type DevicePrincipal } from './devices.ts';
import { isSignedBy, textOf } from './signatures.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The device that sent the request. The hook of its routes sets it. */
    device: DevicePrincipal;
  }
}

/** How much the time in a request may differ from the time of the server. */
const CLOCK_MS = 60_000;
/** Requests per second of a device. A call with 500 scans counts as about 60. */
const REQUESTS_PER_SECOND = 200;

/** Returns the caller whose limits a request of a device counts against. */
export const deviceOf = ({ device: { deviceId } }: Request): LimitedCaller => {
  return { kind: 'device', deviceId, requestsPerSecond: REQUESTS_PER_SECOND };
};

const TOKEN = /^Door ([\w-]{1,100})$/;

/** The answer to a device that the operator has revoked. */
export const REVOKED = { status: 410, message: 'The operator has revoked this device' };

const isNow = (time: unknown) => Math.abs(Date.now() - Number(time)) <= CLOCK_MS;

/**
 * Returns the hook that finds the device of a request, and checks that its key signed the request. A
 * revocation takes effect within a second. Anybody can make up a token. So tokens are looked up together, and
 * `db` has no other users.
 */
export function authenticateDevice(db: Database, clock?: Clock): onRequestAsyncHookHandler {
  const load = batchLoader((tokens: string[]) => findByTokens(db, tokens));
  const devices = readThroughCache(
    async (token: string) => (await load(token)) ?? ('unknown' as const),
    undefined,
    clock,
  );
  return async (request, reply) => {
    void reply.header('cache-control', 'no-store');
    const refuse = (message: string) => reply.fail('20', { message });
    const [, token] = TOKEN.exec(request.headers.authorization ?? '') ?? [];
    if (!token) return refuse('authorization: Door and the token of the device');
    const device = parseToken(token) ? await devices.forceFetch(token) : 'unknown';
    if (device === 'unknown') return refuse('The token is not known');
    if (device.revokedAt) return reply.fail('20', REVOKED);
    const fault = faultOf(request, device);
    if (fault) return refuse(fault);
    request.device = device;
    return undefined;
  };
}

function faultOf({ headers, method, url }: Request, { publicKey }: DevicePrincipal): string | null {
  const { 'x-door-time': time, 'x-door-signature': signature } = headers;
  if (typeof time !== 'string' || !isNow(time))
    return 'x-door-time: the time of the server in Unix milliseconds';
  const isSigned =
    typeof signature === 'string' && isSignedBy(publicKey, textOf(method, url, time), signature);
  return isSigned ? null : 'x-door-signature: the signature of this request by the key of the device';
}
