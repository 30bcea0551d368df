import { append, refuse, settle } from './chain.js';
import { decide } from './decide.js';
import { ANSWER_WITHIN_MS, isRefusal, sendScans } from './server.js';
import { readPass, serialOf } from './signed.js';
import { read, saveFacts } from './storage.js';
import { choosePass, isPassLike, spelled } from './typed.js';

/** @import { Admission, Direction, Door, Gate, Outcome, OutcomeName, PublicKey, StoredScan } from './wire.d.ts' */

/** Longer texts are cut: they are not passes. */
const MOST_CHARACTERS = 200;
/** A scan can be undone in this time. */
export const UNDO_WITHIN_MS = 10_000;

/**
 * @typedef {object} Result
 * @property {OutcomeName | 'refused'} outcome `refused`: the server did not accept the scan.
 * @property {'reference' | 'other-event'} [reason] Why a pass is unknown to a device without network.
 * @property {Outcome['otherEvent']} [otherEvent] The event of a pass of another event.
 * @property {{ from: string | null, until: string | null, timeZone: string | null }} [times]
 *   When the gate admits passes.
 * @property {string | null} [name]
 * @property {string | null} [ticket]
 * @property {Outcome['first']} [first]
 * @property {string} [message]
 * @property {boolean} isOffline
 * @property {Undoable | null} undoable
 */

/**
 * The scan to undo, and the admission before it.
 * @typedef {{ scan: StoredScan, key: string | null, before: Admission | undefined }} Undoable
 */

/**
 * Returns the text of a code in its only spelling, without control characters, which would change the lines
 * that are signed.
 * @param {string} text
 */
const cleaned = (text) =>
  spelled(text)
    .replaceAll(/\p{Cc}/gu, '')
    .trim()
    .slice(0, MOST_CHARACTERS);

/**
 * Resolves to the right reading of a text: the one that is a genuine pass, otherwise the one that looks like a pass.
 * @param {string[]} texts
 * @param {PublicKey[]} keys
 */
export async function chooseGenuine(texts, keys) {
  const passes = new Set(texts.map(spelled).filter(isPassLike));
  if (passes.size > 1)
    for (const pass of passes) if (typeof (await readPass(pass, keys)) === 'object') return pass;
  return choosePass(texts) ?? '';
}

/**
 * Returns when a gate admits passes.
 * @param {Door} door
 * @param {Gate} gate
 */
function timesOf({ event }, { opensAt, closesAt }) {
  /** @param {1 | -1} order @param {(string | null | undefined)[]} times */
  const first = (order, ...times) =>
    times
      .filter((time) => time != null)
      .sort((one, other) => order * (Date.parse(one) - Date.parse(other)))[0] ?? null;
  return {
    from: first(-1, event?.validFrom, opensAt),
    until: first(1, event?.validUntil, closesAt),
    timeZone: event?.timeZone ?? null,
  };
}

/** @param {Door} door */
export const gateOf = ({ gates, gateID }) => gates.find((gate) => gate.gateID === gateID) ?? null;

/**
 * Scans a pass at the gate of the door. Resolves when the result is on disk.
 * @param {Door} door
 * @param {string} text
 * @param {Direction} direction
 * @returns {Promise<Result | null>} Null: the text is empty, or no gate is chosen.
 */
export async function scanPass(door, text, direction) {
  const pass = cleaned(text);
  const gate = gateOf(door);
  if (pass === '' || !gate) return null;
  const serial = serialOf(pass);
  const key = serial === null ? null : keyOf(gate, serial);
  const attempt = { pass, direction, gate, key, before: await admissionAt(door, key) };
  const answer = door.isOnline && door.waiting === 0 ? await askServer(door, attempt) : null;
  return answer && 'outcome' in answer ? answer : decideOffline(door, attempt, answer?.counter ?? null);
}

/**
 * A pass at a gate, and its admission before.
 * @typedef {{
 *   pass: string, direction: Direction, gate: Gate, key: string | null, before: Admission | undefined
 * }} Attempt
 */

/**
 * Asks the server. Resolves to the result, or to the unanswered scan.
 * @param {Door} door
 * @param {Attempt} attempt
 * @returns {Promise<Result | StoredScan>}
 */
async function askServer(door, attempt) {
  // Set before the question is stored.
  door.isAsking = true;
  const { pass, direction, gate } = attempt;
  const question = await append(door, { pass, gateID: gate.gateID, direction, of: null, decision: null });
  const answer = await ask(door, question, attempt);
  const outcome = answer.data?.outcomes[0];
  if (outcome) return resultOf(door, attempt, question, outcome, false);
  if (!isRefusal(answer)) return question;
  return { outcome: 'refused', message: answer.message, isOffline: false, undoable: null };
}

/**
 * Decides without the server, and stores the decision. `of`: the counter of the unanswered question.
 * @param {Door} door
 * @param {Attempt} attempt
 * @param {number | null} of
 */
async function decideOffline(door, attempt, of) {
  const { event, keys, device, db } = door;
  if (!event) throw new Error('The device does not know the event yet. Connect to the network.');
  const { pass, direction, gate } = attempt;
  const decided = await decide(pass, direction, {
    keys,
    event,
    gate,
    deviceName: device.deviceName,
    nowMs: Date.now() + door.clockOffsetMs,
    isRevoked: async (serial) => (await read(db, 'revoked', serial)) !== undefined,
    admissionOf: (serial) => admissionAt(door, keyOf(gate, serial)),
  });
  const fields = { pass, gateID: gate.gateID, direction, of, decision: decided.outcome };
  const scan = await append(door, fields, changeBy(attempt, decided.outcome));
  return resultOf(door, attempt, scan, decided, true);
}

/**
 * Sends one scan, and waits as long as a person at the door can.
 * @param {Door} door
 * @param {StoredScan} scan
 * @param {Attempt} [attempt]
 */
async function ask(door, scan, attempt) {
  door.isAsking = true;
  const answer = await sendScans(door, [scan], ANSWER_WITHIN_MS);
  door.isAsking = false;
  const outcome = answer.data?.outcomes[0]?.outcome;
  if (outcome) await settle(door, [scan], attempt && changeBy(attempt, outcome));
  else if (isRefusal(answer)) await refuse(door, scan, answer.message);
  else door.isOnline = false;
  return answer;
}

/** @param {Gate} gate @param {number} serial */
const keyOf = ({ area }, serial) => `${area} ${serial}`;

/** @param {Door} door @param {string | null} key @returns {Promise<Admission | undefined>} */
const admissionAt = async ({ db }, key) => (key === null ? undefined : read(db, 'admissions', key));

/** @param {Attempt} attempt @param {OutcomeName} outcome */
function changeBy({ key, before, gate }, outcome) {
  if (key === null) return null;
  const at = new Date().toISOString();
  if (outcome === 'admitted') return { key, admission: { at, gate: gate.name, isInside: true } };
  return outcome === 'exited' && before ? { key, admission: { ...before, isInside: false } } : null;
}

/**
 * @param {Door} door
 * @param {Attempt} attempt
 * @param {StoredScan} scan
 * @param {Pick<Result, 'name' | 'ticket' | 'first' | 'reason' | 'otherEvent'> & { outcome: OutcomeName }} outcome
 * @param {boolean} isOffline
 * @returns {Result}
 */
function resultOf(door, { key, before, gate }, scan, outcome, isOffline) {
  const isCounted = outcome.outcome === 'admitted' || outcome.outcome === 'exited';
  if (isCounted) count(door, scan, 1);
  const times = timesOf(door, gate);
  return { ...outcome, times, isOffline, undoable: isCounted ? { scan, key, before } : null };
}

/** Changes the counts until the server sends new ones. */
function count(
  /** @type {Door} */ door,
  /** @type {StoredScan} */ { gateID, direction },
  /** @type {1 | -1} */ by,
) {
  const { area } = door.gates.find((gate) => gate.gateID === gateID) ?? {};
  const gates = door.gates.map((gate) => ({
    ...gate,
    admitted: gate.admitted + (direction === 'in' && gate.gateID === gateID ? by : 0),
    inside: Math.max(0, gate.inside + (gate.area !== area ? 0 : direction === 'in' ? by : -by)),
  }));
  void saveFacts(door, { gates });
}

/**
 * Undoes a scan. The device decides this itself, and then sends it, so that the next scan can ask the server.
 * @param {Door} door
 * @param {Undoable} undoable
 * @returns {Promise<Result>}
 */
export async function undo(door, { scan, key, before }) {
  const undoing = await appendUndo(door, scan, key === null ? null : { key, admission: before });
  count(door, scan, -1);
  if (door.isOnline && door.waiting === 1) await ask(door, undoing);
  return { outcome: 'undone', isOffline: !door.isOnline, undoable: null };
}

/** @param {Door} door @param {StoredScan} scan @param {Parameters<typeof append>[2]} [change] */
const appendUndo = (door, { pass, gateID, counter }, change) =>
  append(door, { pass, gateID, direction: 'undo', of: counter, decision: 'undone' }, change);

/**
 * Undoes the last question if the app was closed before there was an answer. Nobody saw its result.
 * @param {Door} door
 */
export async function undoOpenQuestion(door) {
  /** @type {StoredScan | undefined} */
  const last = await read(door.db, 'scans', door.head.counter);
  if (last?.waiting && last.decision === null) await appendUndo(door, last);
}
