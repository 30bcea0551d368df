import { linesOf, toBase64Url } from './encoding.js';
import { putFacts, read, resultOf, saveFacts, write } from './storage.js';

/** @import { Admission, Door, Scan, StoredScan } from './wire.d.ts' */

/** A call of the protocol has at most this number of scans. */
export const MOST_SCANS = 500;

/**
 * The key of a pass in an area, and its new admission. Undefined: it has none.
 * @typedef {{ key: string, admission: Admission | undefined }} AdmissionChange
 */

/** @param {number} deviceID @param {Scan} scan */
async function hashOf(deviceID, scan) {
  const { counter, previousHash, pass, gateID, direction, of, scannedAt, decision } = scan;
  const lines = linesOf(deviceID, counter, previousHash, pass, gateID, direction, of, scannedAt, decision);
  return toBase64Url(await crypto.subtle.digest('SHA-256', lines));
}

/** @param {IDBObjectStore} store @param {AdmissionChange | null} [change] */
function putAdmission(store, change) {
  if (change?.admission) store.put(change.admission, change.key);
  else if (change) store.delete(change.key);
}

/**
 * Appends a scan to the chain. Resolves when the scan, the head of the chain and the admission are on disk.
 * The caller waits before it appends the next one.
 * @param {Door} door
 * @param {Pick<Scan, 'pass' | 'gateID' | 'direction' | 'of' | 'decision'>} fields
 * @param {AdmissionChange | null} [change]
 * @returns {Promise<StoredScan>}
 */
export async function append(door, fields, change) {
  const { counter, hash: previousHash } = door.head;
  const scan = { counter: counter + 1, previousHash, ...fields, scannedAt: new Date().toISOString() };
  const hash = await hashOf(door.device.deviceID, scan);
  const head = { counter: scan.counter, hash };
  /** @type {StoredScan} */
  const stored = { ...scan, hash, waiting: 1 };
  await write(door.db, ['scans', 'facts', 'admissions'], (store) => {
    // Fails if the counter exists: the chain never forks.
    store('scans').add(stored);
    putFacts(store('facts'), { head });
    putAdmission(store('admissions'), change);
  });
  door.head = head;
  await recount(door);
  return stored;
}

/** @param {IDBDatabase} db */
const waitingIn = (db) => db.transaction('scans').objectStore('scans').index('waiting');

/**
 * Resolves to the oldest scans that wait for their upload: at most `limit`, with consecutive counters.
 * @param {Door} door
 * @param {number} limit
 */
export async function waitingScans({ db }, limit) {
  /** @type {StoredScan[]} */
  const scans = await resultOf(waitingIn(db).getAll(1, limit));
  const [first] = scans;
  return scans.filter(({ counter }, at) => first && counter === first.counter + at);
}

/**
 * Counts the scans that wait for their upload.
 * @param {Door} door
 */
export async function recount(door) {
  door.waiting = await resultOf(waitingIn(door.db).count());
}

/**
 * Marks scans as received by the server. They stay on the device, because a restored server asks for them again.
 * @param {Door} door
 * @param {StoredScan[]} scans
 * @param {AdmissionChange | null} [change]
 * @param {Pick<StoredScan, 'refusal'>} mark
 */
export async function settle(door, scans, change, mark = {}) {
  await write(door.db, ['scans', 'admissions'], (store) => {
    for (const { waiting: _waiting, ...scan } of scans) store('scans').put({ ...scan, ...mark });
    putAdmission(store('admissions'), change);
  });
  await recount(door);
}

/**
 * Marks a scan as not accepted by the server, so that it does not block the others.
 * @param {Door} door
 * @param {StoredScan} scan
 * @param {string} message
 */
export async function refuse(door, scan, message) {
  await settle(door, [scan], null, { refusal: message });
  await saveFacts(door, { refusal: door.refusal ?? { counter: scan.counter, message } });
}

/**
 * Uploads all scans again from this counter on, if the server has lost the scan with this counter.
 * @param {Door} door
 * @param {number} counter
 */
export async function sendLostAgain(door, counter) {
  /** @type {StoredScan | undefined} */
  const next = await read(door.db, 'scans', counter);
  if (next && !next.waiting && next.refusal === undefined) await sendAgain(door, counter);
}

/**
 * Uploads all scans again from this counter on. The server answers repeated scans with the same outcomes.
 * @param {Door} door
 * @param {number} counter
 */
export async function sendAgain(door, counter) {
  const stored = door.db.transaction('scans').objectStore('scans');
  /** @type {StoredScan[]} */
  const scans = await resultOf(stored.getAll(IDBKeyRange.lowerBound(counter)));
  await write(door.db, ['scans'], (store) => {
    for (const { refusal: _refusal, ...scan } of scans) store('scans').put({ ...scan, waiting: 1 });
  });
  await saveFacts(door, { refusal: null });
  await recount(door);
}
