import { MOST_SCANS, refuse, sendLostAgain, settle, waitingScans } from './chain.js';
import { ANSWER_WITHIN_MS, call, isRefusal, isTemporary, LONG_CALL_MS, sendScans } from './server.js';
import { readDocument } from './signed.js';
import { putFacts, saveFacts, write } from './storage.js';

/** @import { Answer, Door, RevocationPage, State } from './wire.d.ts' */

const INTERVAL_MS = 10_000;
const FIRST_RETRY_MS = 1_000;

/**
 * Uploads all scans that wait. Resolves to how long to wait before a retry, in milliseconds, or to null if no
 * scan waits any more. A scan that the server refuses is found by sending fewer scans at a time. It stays on
 * the device, and the others are uploaded.
 * @param {Door} door
 */
async function upload(door) {
  let most = MOST_SCANS;
  for (;;) {
    const scans = await waitingScans(door, most);
    const [first] = scans;
    if (!first || door.isAsking) return null;
    const answer = await sendScans(door, scans, LONG_CALL_MS);
    if (answer.code === '00') await settle(door, scans);
    else if (isTemporary(answer)) return answer.retryAfterMs;
    else if (!isRefusal(answer)) throw refusedDevice(door, answer);
    else if (scans.length > 1) most = Math.ceil(scans.length / 2);
    else {
      await refuse(door, first, answer.message);
      most = MOST_SCANS;
    }
  }
}

/**
 * Returns the error for an answer that no repetition changes: the server does not accept this device, for
 * instance because it was restored from a backup that is older than the device. It decides offline until
 * then.
 * @param {Door} door
 * @param {Answer<unknown>} answer
 */
function refusedDevice(door, { code, message }) {
  door.isOnline = false;
  door.isUnknown = code === '20';
  const scans = door.waiting === 0 ? '' : ` Its ${door.waiting} scans that wait stay on this device.`;
  return new Error(`The server does not accept this device: ${message}.${scans} Tell the operator`);
}

/**
 * Stores the revocations since the last page. Throws if a page is not genuine or does not continue the stored ones.
 * @param {Door} door
 */
async function refreshRevocations(door) {
  for (;;) {
    /** @type {Answer<{ revocations: string, cursor: string, more: boolean }>} */
    const answer = await call(door, `GET revocations?after=${door.revocations.cursor}`);
    if (answer.code !== '00') return;
    const page = await readDocument(answer.data.revocations, 'revocations', door.keys);
    const isNext = page.after === door.revocations.cursor && page.partner === null;
    if (!isNext || page.event !== door.device.organizedEventID)
      throw new Error('The revocation list is not complete');
    await storePage(door, page, answer.data.more);
    if (!answer.data.more) return;
  }
}

/** @param {Door} door @param {RevocationPage} page @param {boolean} hasMore */
async function storePage(door, { cursor, serials, at }, hasMore) {
  // The list is as old as its last page. While pages are missing, it keeps its age.
  const revocations = { cursor, at: hasMore ? door.revocations.at : at };
  await write(door.db, ['revoked', 'facts'], (store) => {
    for (const serial of serials) store('revoked').put(1, serial);
    putFacts(store('facts'), { revocations });
  });
  door.revocations = revocations;
}

/** @param {Door} door @param {State} state */
async function storeState(door, { device, event, keys: { keys }, gates, nextCounter }) {
  const document = await readDocument(event, 'event', keys);
  const [gate] = gates.length === 1 ? gates : gates.filter(({ gateID }) => gateID === door.gateID);
  const named = { ...door.device, deviceName: device.deviceName };
  const { clockOffsetMs } = door;
  const gateID = gate?.gateID ?? null;
  await saveFacts(door, { device: named, event: document, keys, gates, gateID, clockOffsetMs });
  await sendLostAgain(door, nextCounter);
}

/**
 * Uploads scans, and fetches the state and the revocations. Resolves to how long to wait for the next time,
 * if that is known.
 * @param {Door} door
 */
async function synchronize(door) {
  const retryAfterMs = await upload(door);
  if (retryAfterMs !== null) {
    door.isOnline = false;
    return retryAfterMs;
  }
  const startedMs = performance.now();
  /** @type {Answer<State>} */
  const answer = await call(door, `GET state?counter=${door.head.counter}`);
  // A slow server would not answer a scan in time.
  door.isOnline = answer.code === '00' && performance.now() - startedMs <= ANSWER_WITHIN_MS;
  if (isTemporary(answer)) return answer.retryAfterMs;
  if (answer.code !== '00') throw refusedDevice(door, answer);
  door.isUnknown = false;
  await storeState(door, answer.data);
  await refreshRevocations(door);
  return 0;
}

/**
 * Synchronizes at intervals, or when `now` is called. Retries of a server that does not answer start early.
 * @param {Door} door
 * @param {(problem: string | null) => void} onChange Called after each time, with the problem if there is one.
 */
export function keepSynchronized(door, onChange) {
  let retryMs = FIRST_RETRY_MS;
  /** @type {number | undefined} */
  let timer;
  /** @type {Promise<void> | null} */
  let current = null;

  const run = async () => {
    clearTimeout(timer);
    const result = await synchronize(door).catch(String);
    const isProblem = typeof result === 'string';
    const delayMs = door.isOnline ? INTERVAL_MS : Math.min(INTERVAL_MS, retryMs);
    retryMs = door.isOnline ? FIRST_RETRY_MS : retryMs * 2;
    timer = setTimeout(() => void now(), Math.max(isProblem ? 0 : result, delayMs));
    current = null;
    onChange(isProblem ? result : null);
  };
  // One at a time.
  const now = () => (current ??= run());
  return now;
}

/**
 * Ends the shift: names the last counter to the server, and locks the scanner; all scans must be uploaded. Or
 * takes this promise back, and unlocks the scanner. Resolves to the reason if it fails, otherwise to null.
 * @param {Door} door
 * @param {'sign-off' | 'resume'} change
 */
export async function changeShift(door, change) {
  if (change === 'sign-off' && door.waiting > 0)
    return 'Scans wait for their upload. Connect to the network and try again.';
  const { code, message } = await call(door, `POST ${change}?counter=${door.head.counter}`);
  if (code !== '00') return message;
  await saveFacts(door, { isSignedOff: change === 'sign-off' });
  return null;
}
