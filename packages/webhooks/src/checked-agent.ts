import { lookup as dnsLookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { Agent, buildConnector } from 'undici';
import { isPublicAddress } from './addresses.ts';
import { resolveOutside, type Resolve } from './resolve-outside.ts';

/** Who may be reached: those outside, those inside, or both. */
export type Reach = 'public' | 'private' | 'any';

/** Knows names of the network within, too. */
const resolveBySystem: Resolve = (host, callback) => dnsLookup(host, { all: true }, callback);

/** What is told where nobody may be reached. It names neither the address nor the host. */
class Forbidden extends Error {
  override name = 'Forbidden';
  readonly code: 'FORBIDDEN_ADDRESS' | 'HTTPS_REQUIRED';
  constructor(code: Forbidden['code']) {
    super('not to be reached');
    this.code = code;
  }
}

const CONNECT_TIMEOUT_MS = 10_000;
const KEEP_ALIVE_MS = 30_000;

const isWithin = (reach: Reach, address: string) =>
  reach === 'any' || isPublicAddress(address) === (reach === 'public');

/**
 * Returns what requests are sent with. Each connection is opened to an address that was looked at right then, and to no other: what
 * a name stood for before, or stands for elsewhere, does not count. Only then is it kept for further requests.
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
    // An address is not looked up, so it is looked at here.
    connect: (options, callback) => {
      if (reach === 'public' && options.protocol !== 'https:')
        return callback(new Forbidden('HTTPS_REQUIRED'), null);
      const host = options.hostname.replace(/^\[(.*)\]$/, '$1');
      if (isIP(host) && !isWithin(reach, host)) return callback(new Forbidden('FORBIDDEN_ADDRESS'), null);
      connect(options, callback);
    },
    keepAliveTimeout: KEEP_ALIVE_MS,
    // By HTTP/2, a request that was given up could leave a connection in use that is dead.
    allowH2: false,
    // What is on its way is not followed by another: there is one message at a time.
    pipelining: 1,
  });
}
