import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** All public IPv6 addresses are in this range. */
const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3') as [ipaddr.IPv6, number];
/** Reserved for documentation, inside the range above. */
const DOCUMENTATION = ipaddr.parseCIDR('3fff::/20') as [ipaddr.IPv6, number];

/** Looks public, but on every machine in Azure it is a service of the host. */
const AZURE_HOST = '168.63.129.16';

/**
 * Returns whether an address is public: not private, loopback, link-local, multicast or reserved, and not a form that embeds another
 * address.
 */
export function isPublicAddress(text: string): boolean {
  // Only forms that the system accepts: the library accepts more.
  if (isIP(text) === 0) return false;
  const address = ipaddr.parse(text);
  if (address.range() !== 'unicast') return false;
  if (address.kind() === 'ipv4') return text !== AZURE_HOST;
  const v6 = address as ipaddr.IPv6;
  return v6.match(GLOBAL_UNICAST) && !v6.match(DOCUMENTATION);
}
