import { Pool } from 'undici';
import type { Envelope } from './contract.ts';
import type { Settings } from './options.ts';
import type { InvalidField } from './results.ts';

/** One request. Each attempt sends the same. */
export interface Call {
  /** GET by default. */
  method?: 'POST' | 'PATCH' | 'DELETE';
  /** Below the address of the service. */
  path: string;
  /** The media type of a success that is no envelope. */
  accept?: string;
  /** Not idempotent: it is not repeated after an attempt that may have arrived. */
  isOnce?: boolean;
  body?: string | undefined;
  idempotencyKey?: string;
  /** For how long the seats are held, unless they are confirmed. */
  holdForSeconds?: number | undefined;
  /** Registrations of a bulk call. */
  registrations?: number;
}

/** How one attempt ended. */
export interface Attempt extends Pick<Envelope, 'responseMessage' | 'responseData'> {
  /** The HTTP status; 0: there was no answer. */
  status: number;
  /** Null: it is no answer of the service. The message is then `HTTP status 502` for a proxy, or the error of the connection. */
  responseCode: string | null;
  retryAfterMs: number;
  requestId?: string | null;
  invalidFields?: InvalidField[];
}

const KEEP_ALIVE_MS = 30_000;
const CONNECT_WITHIN_MS = 5_000;

/** Opens connections as they are needed, and keeps them. */
export function createTransport({ baseUrl, secretKey, eventRef, connections }: Settings) {
  const { origin, pathname } = new URL(baseUrl);
  const prefix = pathname.replace(/\/+$/, '');
  const access = { 'x-secret-key': secretKey, 'x-event-ref': eventRef, 'x-error-details': 'json' };
  const pool = new Pool(origin, {
    connections,
    // A proxy answers the requests of a connection one after the other, so calls would wait for each other.
    pipelining: 1,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connect: { timeout: CONNECT_WITHIN_MS },
    // Each attempt has its own time limit, which includes the wait for a connection.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  /** Requests per second that were agreed, as the last answer said. */
  let rateLimit = Infinity;

  /** Sends a call once. Never rejects. An abort ends the attempt. */
  async function send(call: Call, withinMs: number, signal: AbortSignal): Promise<Attempt> {
    const { method = 'GET', path, body = null, isOnce = false, registrations = 1 } = call;
    // AbortSignal.any needs Node.js 20.
    const controller = new AbortController();
    const abort = () => controller.abort();
    const timer = setTimeout(abort, withinMs);
    signal.addEventListener('abort', abort);
    try {
      const response = await pool.request({
        method,
        path: prefix + path,
        headers: headersOf(call, access),
        body,
        signal: controller.signal,
        // A call that may be sent again may follow another one on a connection.
        idempotent: !isOnce,
        // But nobody waits behind a thousand registrations.
        blocking: registrations > 1,
      });
      const bytes = new Uint8Array(await response.body.arrayBuffer());
      const attempt = readResponse(call, response.statusCode, response.headers, bytes);
      if (attempt.responseCode !== null && !call.accept) rateLimit = rateLimitIn(response.headers);
      return attempt;
    } catch (error) {
      return noAnswer(0, controller.signal.aborted ? 'timeout' : codeOf(error));
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
    }
  }

  return { send, rateLimit: () => rateLimit, close: () => pool.close() };
}

export type Transport = ReturnType<typeof createTransport>;

type Headers = Record<string, string | string[] | undefined>;

const headersOf = (
  { path, body, accept, idempotencyKey, holdForSeconds }: Call,
  access: Headers,
): Headers => ({
  // The public keys need no access.
  ...(path.startsWith('/api/') && access),
  accept,
  'content-type': body && 'application/json',
  'idempotency-key': idempotencyKey,
  'hold-for': holdForSeconds?.toString(),
});

const rateLimitIn = (headers: Headers) =>
  Number(/;q=(\d+)/.exec(String(headers['ratelimit-policy']))?.[1]) || Infinity;

const noAnswer = (status: number, responseMessage: string, retryAfterMs = 0): Attempt => {
  return { status, responseCode: null, responseMessage, responseData: null, retryAfterMs };
};

function readResponse({ accept }: Call, status: number, headers: Headers, bytes: Uint8Array): Attempt {
  const header = (name: string) => String(headers[name] ?? '');
  const [mediaType] = header('content-type').split(';');
  // A picture or the key set comes without an envelope.
  const isContent = status === 200 && mediaType === accept;
  const content = { responseCode: '00', responseMessage: 'Successful', responseData: bytes };
  const answer = isContent ? content : (parse(new TextDecoder().decode(bytes)) as Envelope | null);
  const retryAfterMs = 1_000 * (Number(header('retry-after')) || 0);
  if (typeof answer?.responseCode !== 'string')
    return noAnswer(status, `HTTP status ${status}`, retryAfterMs);
  // A proxy may have cut the header.
  const invalidFields = (parse(header('x-invalid-fields')) ?? []) as InvalidField[];
  return { ...answer, status, requestId: header('x-request-id') || null, invalidFields, retryAfterMs };
}

/** Returns the JSON of a text; null where it is none. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** The code alone: messages may repeat what was sent. */
function codeOf(error: unknown): string {
  const { code, cause } = error as { code?: unknown; cause?: { code?: unknown } };
  const found = code ?? cause?.code;
  return typeof found === 'string' ? found : 'connection lost';
}
