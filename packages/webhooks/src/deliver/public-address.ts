import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** All public IPv6 addresses are in this range. */
const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3') as [ipaddr.IPv6, number];

/** Looks public, but reaches a service of the host on every machine in Azure. */
const AZURE_HOST = '168.63.129.16';

/**
 * Returns whether an address is public: not private, loopback, link-local, multicast or reserved, and not a
 * form that embeds another address.
 */
export function isPublicAddress(text: string) {
  // The library accepts more forms than the system.
  if (isIP(text) === 0) return false;
  const address = ipaddr.parse(text);
  if (address.range() !== 'unicast') return false;
  if (address.kind() === 'ipv4') return text !== AZURE_HOST;
  return (address as ipaddr.IPv6).match(GLOBAL_UNICAST);
}
