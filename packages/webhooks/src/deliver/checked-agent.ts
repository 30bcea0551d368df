import { lookup as dnsLookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { Agent, buildConnector } from 'undici';
import { isPublicAddress } from './public-address.ts';
import { resolveOutside, type Resolve } from './resolve-outside.ts';

/** Which addresses may be reached. */
export type Reach = 'public' | 'private' | 'any';

/** Also resolves names of the internal network. */
const resolveBySystem: Resolve = (host, callback) => dnsLookup(host, { all: true }, callback);

/** The error of a forbidden connection. It names neither the address nor the host. */
class Forbidden extends Error {
  override name = 'Forbidden';
  readonly code: 'FORBIDDEN_ADDRESS' | 'HTTPS_REQUIRED';
  constructor(code: Forbidden['code']) {
    super('forbidden destination');
    this.code = code;
  }
}

const CONNECT_TIMEOUT_MS = 10_000;
const KEEP_ALIVE_MS = 30_000;

const isWithin = (reach: Reach, address: string) =>
  reach === 'any' || isPublicAddress(address) === (reach === 'public');

/**
 * Returns the agent that sends requests. Each connection is opened to an address that was checked in the same step, so a name that
 * resolves differently later reaches nothing. Checked connections are kept for further requests.
 */
export function checkedAgent(
  reach: Reach,
  resolve: Resolve = reach === 'public' ? resolveOutside() : resolveBySystem,
): Agent {
  const lookup: LookupFunction = (host, options, callback) =>
    resolve(host, (error, found) => {
      if (error) return callback(error, []);
      const allowed = found.filter(({ address }) => isWithin(reach, address));
      if (allowed.length === 0) return callback(new Forbidden('FORBIDDEN_ADDRESS'), []);
      if (options.all) return callback(null, allowed);
      callback(null, allowed[0]!.address, allowed[0]!.family);
    });
  const connect = buildConnector({ timeout: CONNECT_TIMEOUT_MS, lookup, allowH2: false });
  return new Agent({
    // An address in the URL is not looked up, so it is checked here.
    connect: (options, callback) => {
      if (reach === 'public' && options.protocol !== 'https:')
        return callback(new Forbidden('HTTPS_REQUIRED'), null);
      const host = options.hostname.replace(/^\[(.*)\]$/, '$1');
      if (isIP(host) && !isWithin(reach, host)) return callback(new Forbidden('FORBIDDEN_ADDRESS'), null);
      connect(options, callback);
    },
    keepAliveTimeout: KEEP_ALIVE_MS,
    // With HTTP/2, an aborted request could leave a dead connection in use.
    allowH2: false,
    // One message at a time.
    pipelining: 1,
  });
}
