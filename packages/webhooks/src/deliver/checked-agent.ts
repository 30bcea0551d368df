import { lookup as resolveBySystem } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { Agent, buildConnector } from 'undici';
import { isPublicAddress } from './public-address.ts';
import { resolveOutside, type Resolve } from './resolve-outside.ts';

/** The addresses that may be reached. */
export type Reach = 'public' | 'private' | 'any';

const CONNECT_TIMEOUT_MS = 10_000;
const KEEP_ALIVE_MS = 30_000;

const isWithin = (reach: Reach, address: string) =>
  reach === 'any' || isPublicAddress(address) === (reach === 'public');

/** Returns the error of a message that may not be sent. It names neither the address nor the host. */
export const forbidden = (code: string) => Object.assign(new Error('forbidden destination'), { code });

/**
 * Returns the agent that sends requests. It resolves a name, checks the address and connects to it in one
 * step, so a name that later resolves to another address cannot bypass the check. Checked connections are
 * kept for further requests.
 */
export function checkedAgent(
  reach: Reach,
  // The system also resolves names of the internal network.
  resolve: Resolve = reach === 'public' ? resolveOutside() : (host) => resolveBySystem(host, { all: true }),
) {
  async function resolveAllowed(host: string) {
    const allowed = (await resolve(host)).filter(({ address }) => isWithin(reach, address));
    if (allowed.length === 0) throw forbidden('FORBIDDEN_ADDRESS');
    return allowed;
  }
  const lookup: LookupFunction = (host, _options, callback) =>
    void resolveAllowed(host).then(
      (addresses) => callback(null, addresses),
      (error: Error) => callback(error, []),
    );
  const connect = buildConnector({
    timeout: CONNECT_TIMEOUT_MS,
    lookup,
    // The lookup returns several addresses.
    autoSelectFamily: true,
    // With HTTP/2, an aborted request could leave a dead connection in use.
    allowH2: false,
  });
  return new Agent({
    // An address in the URL is not looked up, so it is checked here.
    connect: (options, callback) => {
      if (reach === 'public' && options.protocol !== 'https:')
        return callback(forbidden('HTTPS_REQUIRED'), null);
      const host = options.hostname.replace(/^\[(.*)\]$/, '$1');
      if (isIP(host) && !isWithin(reach, host)) return callback(forbidden('FORBIDDEN_ADDRESS'), null);
      connect(options, callback);
    },
    keepAliveTimeout: KEEP_ALIVE_MS,
    allowH2: false,
    // One message at a time.
    pipelining: 1,
  });
}
