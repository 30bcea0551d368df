import type { FastifyReply, FastifyRequest } from 'fastify';

type CookieName =
  'floodgate_session' | 'floodgate_device' | 'floodgate_sign_in' | 'floodgate_language' | 'floodgate_zone';

export type Cookies = ReturnType<typeof cookiesOf>;

/** Returns functions that read and set the cookies of the console at this address. */
export function cookiesOf(consoleUrl: string | undefined) {
  const isSecure = consoleUrl?.startsWith('https:') ?? false;
  // A browser accepts a cookie with this prefix from this host over TLS only. Another host of the domain
  // cannot set one.
  const prefix = isSecure ? '__Host-' : '';
  const rules = `Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
  return {
    /** Returns the cookie of a request, or undefined. */
    read({ headers }: FastifyRequest, name: CookieName) {
      const start = `${prefix}${name}=`;
      const pairs = headers.cookie?.split(';').map((pair) => pair.trim());
      return pairs?.find((pair) => pair.startsWith(start))?.slice(start.length);
    },
    /** Sets a cookie. Without `seconds` it ends with the browser. An empty text removes it. */
    set(reply: FastifyReply, name: CookieName, text: string, seconds?: number) {
      const age = text === '' ? 0 : seconds;
      const end = age === undefined ? '' : `; Max-Age=${age}`;
      void reply.header('set-cookie', `${prefix}${name}=${text}; ${rules}${end}`);
    },
  };
}
