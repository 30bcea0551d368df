import { linesOf, toBase64Url } from './encoding.js';

/** @import { Answer, Device, Door, Facts, Outcome, StoredScan } from './wire.d.ts' */

/** Without an answer in this time, the device decides offline. */
export const ANSWER_WITHIN_MS = 1_000;
/** For calls that nobody waits for. */
export const LONG_CALL_MS = 15_000;
const ENROL_REPEATS = 3;
const ENROL_PAUSE_MS = 1_000;

const UNAVAILABLE = { code: '90', message: 'The server does not answer', data: null };
/** The `date` header has no milliseconds: on average, half a second is missing. */
const HALF_SECOND_MS = 500;

const HTTP_GONE = 410;
/** Codes of problems that end by themselves. */
const TEMPORARY = ['50', '90', '99'];

/** @param {{ code: string }} answer */
export const isTemporary = ({ code }) => TEMPORARY.includes(code);

/**
 * Whether the server has refused the content of a request, so that a repetition cannot succeed.
 * @param {{ code: string }} answer
 */
export const isRefusal = ({ code }) => code === '10' || code === '11';

/** @param {CryptoKey} privateKey @param {(string | number | null)[]} values */
const sign = async (privateKey, ...values) =>
  toBase64Url(await crypto.subtle.sign('Ed25519', privateKey, linesOf(...values)));

/**
 * Sends a request. A missing answer is code 90.
 * @param {string} path
 * @param {string} method
 * @param {object | null} body
 * @param {AbortSignal} signal
 * @param {Record<string, string>} [headers]
 * @returns {Promise<Answer<any>>}
 */
async function send(path, method, body, signal, headers) {
  const type = body && { 'content-type': 'application/json' };
  const init = { method, headers: { ...type, ...headers }, body: body && JSON.stringify(body), signal };
  try {
    const response = await fetch(path, { ...init, cache: 'no-store', credentials: 'omit' });
    const date = Date.parse(response.headers.get('date') ?? '');
    const { responseCode, responseMessage, responseData } = await response.json();
    return {
      code: responseCode,
      message: responseMessage,
      data: responseData,
      isRevoked: response.status === HTTP_GONE,
      dateMs: Number.isNaN(date) ? null : date + HALF_SECOND_MS,
      retryAfterMs: Number(response.headers.get('retry-after') ?? 0) * 1_000,
    };
  } catch {
    return { ...UNAVAILABLE, isRevoked: false, dateMs: null, retryAfterMs: 0 };
  }
}

/**
 * Sends a signed request. With a wrong clock it is repeated once. Never resolves if the device was revoked.
 * @param {Door} door
 * @param {string} request The method and the path below /door/v1.
 * @param {object | null} body
 * @returns {Promise<Answer<any>>}
 */
export async function call(door, request, body = null, timeoutMs = LONG_CALL_MS) {
  const [method = '', route = ''] = request.split(' ');
  const path = `/door/v1/${route}`;
  const signal = AbortSignal.timeout(timeoutMs);
  const repeatable = async () => {
    const time = String(Date.now() + door.clockOffsetMs);
    const headers = {
      authorization: `Door ${door.device.token}`,
      'x-door-time': time,
      'x-door-signature': await sign(door.device.privateKey, method, path, time),
    };
    const answer = await send(path, method, body, signal, headers);
    if (answer.dateMs !== null) door.clockOffsetMs = answer.dateMs - Date.now();
    return answer.isRevoked ? door.onRevoked() : answer;
  };
  const answer = await repeatable();
  return answer.code === '20' ? repeatable() : answer;
}

/**
 * Creates the key of this device, which cannot leave the browser.
 * @returns {Promise<NonNullable<Facts['enrolment']>>}
 */
export async function createKey() {
  const { privateKey, ...pair } = await crypto.subtle.generateKey('Ed25519', false, ['sign', 'verify']);
  return { privateKey, publicKey: toBase64Url(await crypto.subtle.exportKey('raw', pair.publicKey)) };
}

/**
 * Enrols this device. Resolves to the device, or to the message of the failure. Safe to repeat with the same
 * key. It repeats itself if the server does not answer, or is busy.
 * @param {string} code
 * @param {string} version
 * @param {NonNullable<Facts['enrolment']>} key
 * @returns {Promise<Device | string>}
 */
export async function enrol(code, version, { privateKey, publicKey }) {
  const signature = await sign(privateKey, 'enrol', code, publicKey);
  const body = { code, publicKey, signature, version };
  const attempt = () => send('/door/v1/enrol', 'POST', body, AbortSignal.timeout(LONG_CALL_MS));
  let answer = await attempt();
  for (let repeated = 0; repeated < ENROL_REPEATS && isTemporary(answer); repeated += 1) {
    await new Promise((resolve) => setTimeout(resolve, Math.max(ENROL_PAUSE_MS, answer.retryAfterMs)));
    answer = await attempt();
  }
  return answer.code === '00' ? { ...answer.data, privateKey } : answer.message;
}

/**
 * Sends scans with consecutive counters.
 * @param {Door} door
 * @param {StoredScan[]} stored
 * @param {number} timeoutMs
 * @returns {Promise<Answer<{ outcomes: Outcome[] }>>}
 */
export async function sendScans(door, stored, timeoutMs) {
  const scans = stored.map(({ hash: _hash, waiting: _waiting, refusal: _refusal, ...scan }) => scan);
  const sentAt = new Date().toISOString();
  const last = stored.at(-1)?.hash ?? '';
  const signature = await sign(door.device.privateKey, 'scans', sentAt, last);
  return call(door, 'POST scans', { scans, sentAt, signature }, timeoutMs);
}
