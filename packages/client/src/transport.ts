import { Pool } from 'undici';
import type { Envelope } from './contract.ts';
import type { Settings } from './options.ts';
import type { InvalidField } from './results.ts';

/** One request. Each attempt sends the same. */
export interface Call {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Below the address of the service. */
  path: string;
  /** The media type of a success that is no envelope. */
  accept?: string;
  /** Not idempotent: it is not repeated after an attempt that may have arrived. */
  isOnce?: boolean;
  body?: string;
  idempotencyKey?: string;
  /** For how long the seats are held, unless they are confirmed. */
  holdForSeconds?: number | undefined;
  /** How many registrations it asks for. */
  size?: number;
}

/** An answer of the service. */
export interface Answer {
  kind: 'answered';
  status: number;
  code: string;
  message: string;
  data: unknown;
  requestId: string | null;
  invalidFields: InvalidField[];
  retryAfterMs: number;
  /** Requests per second that were agreed; null where none were. */
  rateLimit: number | null;
}

/** How one attempt ended. */
export type AttemptEnd =
  | Answer
  /** An answer that is not the service's, such as a proxy's. */
  | { kind: 'foreign'; status: number; retryAfterMs: number }
  /** No answer. `isUnsent`: there was no connection, so the service has not seen it. */
  | { kind: 'lost'; reason: string; isUnsent: boolean };

export interface Transport {
  /** Sends a call once. Never rejects. An abort ends the attempt. */
  send(call: Call, withinMs: number, signal: AbortSignal | undefined): Promise<AttemptEnd>;
  /** Requests per second that were agreed, as the last answer said; null where none were. */
  rateLimit(): number | null;
  close(): Promise<void>;
}

const KEEP_ALIVE_MS = 30_000;
const CONNECT_WITHIN_MS = 5_000;
/** Errors before anything is sent. */
const UNSENT = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** Opens connections as they are needed, and keeps them. */
export function createTransport(settings: Settings): Transport {
  const { baseUrl, secretKey, eventRef, connections } = settings;
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

  let rateLimit: number | null = null;

  function headersOf({ path, body, accept, idempotencyKey, holdForSeconds }: Call): Record<string, string> {
    return {
      // The public keys need no access.
      ...(path.startsWith('/api/') && access),
      ...(accept !== undefined && { accept }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
      ...(holdForSeconds !== undefined && { 'hold-for': String(holdForSeconds) }),
    };
  }

  async function send(call: Call, withinMs: number, signal: AbortSignal | undefined): Promise<AttemptEnd> {
    const { method, path, body, size = 1 } = call;
    const limit = limitTime(withinMs, signal);
    try {
      const response = await pool.request({
        method,
        path: prefix + path,
        headers: headersOf(call),
        body: body ?? null,
        signal: limit.signal,
        // A call that may be sent again may follow another one on a connection.
        idempotent: call.isOnce !== true,
        // But nobody waits behind a thousand registrations.
        blocking: size > 1,
      });
      const bytes = new Uint8Array(await response.body.arrayBuffer());
      const answer = readAnswer(call, response, bytes);
      const saysLimit = call.accept === undefined && answer.kind === 'answered';
      if (saysLimit) ({ rateLimit } = answer);
      return answer;
    } catch (error) {
      const reason = limit.isOver() ? 'timeout' : reasonOf(error);
      return { kind: 'lost', reason, isUnsent: UNSENT.has(reason) };
    } finally {
      limit.release();
    }
  }

  return { send, rateLimit: () => rateLimit, close: () => pool.close() };
}

/** Aborts when the time is over or the caller aborts. AbortSignal.any needs Node.js 20. */
function limitTime(withinMs: number, signal: AbortSignal | undefined) {
  const controller = new AbortController();
  let isOver = false;
  const timer = setTimeout(() => {
    isOver = true;
    controller.abort();
  }, withinMs);
  const onAbort = () => controller.abort();
  signal?.addEventListener('abort', onAbort, { once: true });
  if (signal?.aborted) onAbort();
  return {
    signal: controller.signal,
    isOver: () => isOver,
    release() {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    },
  };
}

interface Response {
  statusCode: number;
  headers: Record<string, string | string[] | undefined>;
}

function readAnswer(
  { accept }: Call,
  { statusCode: status, headers }: Response,
  bytes: Uint8Array,
): AttemptEnd {
  const [mediaType] = String(headers['content-type']).split(';');
  const isContent = status === 200 && accept !== undefined && mediaType === accept;
  const envelope = isContent ? contentEnvelope(bytes) : parseEnvelope(bytes);
  const retryAfterMs = 1_000 * (Number(headers['retry-after']) || 0);
  if (!envelope) return { kind: 'foreign', status, retryAfterMs };
  const [, quota] = /;q=(\d+)/.exec(String(headers['ratelimit-policy'])) ?? [];
  return {
    kind: 'answered',
    status,
    code: envelope.responseCode,
    message: envelope.responseMessage,
    data: envelope.responseData,
    requestId: headers['x-request-id'] === undefined ? null : String(headers['x-request-id']),
    invalidFields: parseInvalidFields(headers['x-invalid-fields']),
    retryAfterMs,
    rateLimit: quota === undefined ? null : Number(quota),
  };
}

// A proxy may have cut the header.
function parseInvalidFields(header: string | string[] | undefined): InvalidField[] {
  try {
    return header === undefined ? [] : (JSON.parse(String(header)) as InvalidField[]);
  } catch {
    return [];
  }
}

/** A picture or the key set comes without an envelope. */
const contentEnvelope = (responseData: Uint8Array): Envelope => ({
  responseCode: '00',
  responseMessage: 'Successful',
  responseData,
});

function parseEnvelope(bytes: Uint8Array): Envelope | null {
  try {
    const envelope = JSON.parse(new TextDecoder().decode(bytes)) as Partial<Envelope> | null;
    return typeof envelope?.responseCode === 'string' ? (envelope as Envelope) : null;
  } catch {
    return null;
  }
}

/** The code alone: messages may repeat what was sent. */
function reasonOf(error: unknown): string {
  const { code, cause } = error as { code?: unknown; cause?: { code?: unknown } };
  const found = code ?? cause?.code;
  return typeof found === 'string' ? found : 'connection lost';
}
