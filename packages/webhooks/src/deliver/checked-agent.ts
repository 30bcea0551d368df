import type { LookupAddress } from 'node:dns';
import { lookup as resolveBySystem, Resolver } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { Agent, buildConnector } from 'undici';

/** The addresses that may be reached. */
export type Reach = 'public' | 'private' | 'any';

const CONNECT_TIMEOUT_MS = 10_000;
const KEEP_ALIVE_MS = 30_000;

const isWithin = (reach: Reach, address: string) =>
  reach === 'any' || isPublicAddress(address) === (reach === 'public');

/** Returns the error of a message that may not be sent. It names neither the address nor the host. */
export const forbidden = (code: string) => Object.assign(new Error('forbidden destination'), { code });

/**
 * Returns the agent that sends requests. It resolves a name, checks the address and connects to it in one step, so a name that later
 * resolves to another address cannot bypass the check. Checked connections are kept for further requests.
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

/** All public IPv6 addresses are in this range. */
const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3') as [ipaddr.IPv6, number];

/** Looks public, but reaches a service of the host on every machine in Azure. */
const AZURE_HOST = '168.63.129.16';

/**
 * Returns whether an address is public: not private, loopback, link-local, multicast or reserved, and not a form that embeds another
 * address.
 */
export function isPublicAddress(text: string) {
  // The library accepts more forms than the system.
  if (isIP(text) === 0) return false;
  const address = ipaddr.parse(text);
  if (address.range() !== 'unicast') return false;
  if (address.kind() === 'ipv4') return text !== AZURE_HOST;
  return (address as ipaddr.IPv6).match(GLOBAL_UNICAST);
}

/** Finds the addresses of a host. */
export type Resolve = (host: string) => Promise<LookupAddress[]>;

/** A name server that does not answer is asked twice. */
const PATIENCE = { timeout: 1_500, tries: 2 } as const;
/** Names of this machine (RFC 6761). No name server is asked for them. */
const OF_THIS_MACHINE = /^(?:.+\.)?localhost\.?$/i;

/**
 * Returns a resolver that asks only name servers, by default those of the system. getaddrinfo would run in the thread pool, where
 * four names whose server does not answer block all others, and all file access.
 */
export const resolveOutside =
  (servers?: readonly string[]): Resolve =>
  async (host) => {
    if (OF_THIS_MACHINE.test(host)) return [{ address: '127.0.0.1', family: 4 }];
    // A new resolver for each call, because only a new one reads the configured servers.
    const resolver = new Resolver(PATIENCE);
    if (servers) resolver.setServers(servers);
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    if (v4.status === 'rejected' && v6.status === 'rejected') throw v4.reason;
    const found = [v4, v6].flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    return found.map((address) => ({ address, family: isIP(address) }));
  };
