import { readPass } from './signed.js';
import { eventOfReference } from './typed.js';

/** @import { Admission, Decision, Direction, EventDocument, Gate, Known, Outcome, PublicKey } from './wire.d.ts' */

/**
 * Returns the outcome of a scan without the server, by the rules in apps/docs/how-it-works/door.md.
 * @param {string} pass
 * @param {Direction} direction
 * @param {Known} known
 * `reason` says why the pass is unknown.
 * @returns {Promise<{ outcome: Decision, first: Outcome['first'], reason?: 'reference' | 'other-event' }>}
 */
export async function decide(pass, direction, known) {
  const outcome = await refusalOf(pass, direction, known);
  if (outcome === 'reference' || outcome === 'other-event')
    return { outcome: 'unknown', first: null, reason: outcome };
  if (typeof outcome === 'string') return { outcome, first: null };
  const admission = await known.admissionOf(outcome.serial);
  if (!admission || isAdmittedAgain(known.gate, admission)) return { outcome: 'admitted', first: null };
  const { at, gate } = admission;
  return { outcome: 'already-admitted', first: { at, gate, device: known.deviceName } };
}

/** @param {string} pass @param {Direction} direction @param {Known} known */
async function refusalOf(pass, direction, { keys, event, gate, nowMs, isRevoked }) {
  if (direction === 'out') return 'exited';
  const content = await contentOf(pass, event, keys);
  if (typeof content === 'string') return content;
  if (await isRevoked(content.serial)) return 'cancelled';
  if (gate.tickets && !gate.tickets.includes(content.ticketID)) return 'wrong-gate';
  // An absent time is not a number, so no comparison with it is true.
  if ([event.validFrom, gate.opensAt].some((time) => nowMs < Date.parse(time ?? ''))) return 'too-early';
  const isOver = [event.validUntil, gate.closesAt].some((time) => nowMs >= Date.parse(time ?? ''));
  return isOver ? 'too-late' : content;
}

/** @param {string} pass @param {EventDocument} event @param {PublicKey[]} keys */
async function contentOf(pass, event, keys) {
  const eventID = eventOfReference(pass);
  if (eventID !== null) return eventID === event.event ? 'reference' : 'other-event';
  const content = await readPass(pass, keys);
  return typeof content === 'string' || content.eventID === event.event ? content : 'other-event';
}

/** @param {Gate} gate @param {Admission} admission */
const isAdmittedAgain = ({ entryRule }, { isInside }) =>
  entryRule === 'any' || (entryRule === 're-entry' && !isInside);
