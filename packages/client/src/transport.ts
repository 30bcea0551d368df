import { Pool } from 'undici';
import type { Envelope } from './contract.ts';
import type { Settings } from './options.ts';
import type { InvalidField } from './results.ts';
import { parse } from './signed-documents.ts';

/** One request. All attempts send the same request. */
export interface Call {
  /** GET by default. */
  method?: 'POST' | 'PATCH' | 'DELETE';
  /** Path below the URL of the service. */
  path: string;
  /** The media type of a success without the envelope. */
  accept?: string;
  /** Not idempotent: not retried after an attempt that the service may have received. */
  isOnce?: boolean;
  body?: string | undefined;
  idempotencyKey?: string;
  /** Duration of the hold. */
  holdForSeconds?: number | undefined;
  /** Registrations of a bulk call. */
  registrations?: number;
}

/** The result of one attempt. */
export interface Attempt extends Pick<Envelope, 'responseMessage' | 'responseData'> {
  /** The HTTP status; 0: there was no answer. */
  status: number;
  /** Null: the service did not answer. The message is then `HTTP status 502` for a proxy, or the connection error. */
  responseCode: string | null;
  retryAfterMs: number;
  requestId?: string | null;
  invalidFields?: InvalidField[];
}

const KEEP_ALIVE_MS = 30_000;
const CONNECT_WITHIN_MS = 5_000;

/** Opens connections on demand, and keeps them alive. */
export function createTransport({ baseUrl, secretKey, eventRef, connections }: Settings) {
  const { origin, pathname } = new URL(baseUrl);
  const prefix = pathname.replace(/\/+$/, '');
  const access = { 'x-secret-key': secretKey, 'x-event-ref': eventRef, 'x-error-details': 'json' };
  const pool = new Pool(origin, {
    connections,
    // No pipelining: a proxy answers the requests of a connection in order, so calls would wait for each other.
    pipelining: 1,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connect: { timeout: CONNECT_WITHIN_MS },
    // Each attempt has its own time limit, which includes the wait for a connection.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  /** The rate limit in requests per second, from the last answer. */
  let rateLimit = Infinity;

  /** Sends a call once. Never rejects. An abort ends the attempt. */
  async function send(call: Call, withinMs: number, signal: AbortSignal): Promise<Attempt> {
    const { method = 'GET', path, body } = call;
    // AbortSignal.any would need Node.js 20.
    const controller = new AbortController();
    const abort = () => controller.abort();
    const timer = setTimeout(abort, withinMs);
    signal.addEventListener('abort', abort);
    try {
      const response = await pool.request({
        method,
        path: prefix + path,
        headers: {
          // The public keys need no secret key.
          ...(path.startsWith('/api/') && access),
          accept: call.accept,
          'content-type': body && 'application/json',
          'idempotency-key': call.idempotencyKey,
          'hold-for': call.holdForSeconds?.toString(),
        },
        body: body ?? null,
        signal: controller.signal,
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

const rateLimitIn = (headers: Headers) =>
  Number(/;q=(\d+)/.exec(String(headers['ratelimit-policy']))?.[1]) || Infinity;

const noAnswer = (status: number, responseMessage: string, retryAfterMs = 0): Attempt => {
  return { status, responseCode: null, responseMessage, responseData: null, retryAfterMs };
};

function readResponse({ accept }: Call, status: number, headers: Headers, bytes: Uint8Array): Attempt {
  const header = (name: string) => String(headers[name] ?? '');
  const [mediaType] = header('content-type').split(';');
  // A picture and the key set have no envelope.
  const isContent = status === 200 && mediaType === accept;
  const content = { responseCode: '00', responseMessage: 'Successful', responseData: bytes };
  const answer = isContent ? content : (parse(new TextDecoder().decode(bytes)) as Envelope | null);
  const retryAfterMs = 1_000 * (Number(header('retry-after')) || 0);
  if (typeof answer?.responseCode !== 'string')
    return noAnswer(status, `HTTP status ${status}`, retryAfterMs);
  // A proxy may have truncated the header.
  const invalidFields = (parse(header('x-invalid-fields')) ?? []) as InvalidField[];
  return { ...answer, status, requestId: header('x-request-id') || null, invalidFields, retryAfterMs };
}

/** Returns the code of an error. Its message may contain data of the request. */
function codeOf(error: unknown) {
  const { code, cause } = error as { code?: unknown; cause?: { code?: unknown } };
  const found = code ?? cause?.code;
  return typeof found === 'string' ? found : 'connection lost';
}
