import { isIP } from 'node:net';

/**
 * Returns whether the Host header is an address or localhost. Another site can make a browser on this machine
 * call it by a name of that site (DNS rebinding), but not by one of these. Pages that need no sign-in show
 * private data only then.
 */
export function isLocalHost(host: string | undefined) {
  const name = host?.replace(/:\d+$/, '').toLowerCase() ?? '';
  return /^(.+\.)?localhost$/.test(name) || isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0;
}
