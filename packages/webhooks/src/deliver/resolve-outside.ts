import type { LookupAddress } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';

/** Finds the addresses of a host. */
export type Resolve = (host: string) => Promise<LookupAddress[]>;

/** A name server that does not answer is asked twice. */
const PATIENCE = { timeout: 1_500, tries: 2 } as const;
/** Names of this machine (RFC 6761). No name server is asked for them. */
const OF_THIS_MACHINE = /^(?:.+\.)?localhost\.?$/i;

/**
 * Returns a resolver that asks only name servers, by default those of the system. getaddrinfo would run in
 * the thread pool, where four names whose server does not answer block all others, and all file access.
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
    const addresses = [v4, v6].flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    return addresses.map((address) => ({ address, family: isIP(address) }));
  };
