import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** All that is reachable from everywhere lies in here. The rest of IPv6 is not given out, or is local. */
const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3') as [ipaddr.IPv6, number];
/** Given to documentation, and inside the above. */
const DOCUMENTATION = ipaddr.parseCIDR('3fff::/20') as [ipaddr.IPv6, number];

/** Public by its form, but on every machine in Azure it is the host's own service. */
const AZURE_HOST = '168.63.129.16';

/**
 * Returns whether an address belongs to somebody outside: it is not private, of this machine or its network, of a group, reserved,
 * or one that stands for another address.
 */
export function isPublicAddress(text: string): boolean {
  // Only what the system takes for one: the library knows further forms.
  if (isIP(text) === 0) return false;
  const address = ipaddr.parse(text);
  if (address.range() !== 'unicast') return false;
  if (address.kind() === 'ipv4') return text !== AZURE_HOST;
  const v6 = address as ipaddr.IPv6;
  return v6.match(GLOBAL_UNICAST) && !v6.match(DOCUMENTATION);
}
