import type { EventFault, RevocationsFault } from './results.ts';
import { checkSignature, readEvent, readRevocations, type DoorSettings } from './signed-documents.ts';

/** Reason why a pass is not valid. If a document has a fault, no pass is valid until the document is replaced. */
export type PassRefusal =
  | 'malformed'
  /** The key set is older than the key of the pass, or the key was withdrawn. Fetch the keys again. */
  | 'unknown-key'
  | 'forged'
  | 'other-event'
  | 'not-yet-valid'
  | 'expired'
  | 'revoked'
  | EventFault
  | RevocationsFault;

export type PassVerdict =
  | {
      valid: true;
      ticketId: number;
      /** Identifies the registration. Admit each serial once. */
      serial: number;
      /** Validity of the pass by the current times of the event. Null: the event has no such time. */
      validFrom: Date | null;
      validUntil: Date | null;
      /** Time of the older document. The door does not know later changes. */
      asOf: Date;
    }
  | { valid: false; reason: PassRefusal };

const PASS = /^FG2\.([0-9A-V]{132})$/;
const FIELDS_BYTES = 18;

/**
 * Returns whether a pass is valid now, and the reason if it is not. Needs no network. The keys, the event id
 * and the partner must come from a trusted source. The pass and the documents can come from any source. Does
 * not detect a pass that was already used.
 */
export function verifyPass(pass: string, settings: DoorSettings): PassVerdict {
  const refused = (reason: PassRefusal) => ({ valid: false, reason }) as const;
  const content = readPass(pass, settings);
  if (typeof content === 'string') return refused(content);
  const event = readEvent(settings.event, settings.keys, settings);
  if (typeof event === 'string') return refused(event);
  const [validFrom, validUntil] = [dateOf(event.validFrom), dateOf(event.validUntil)];
  const { now = new Date() } = settings;
  if (validFrom && now < validFrom) return refused('not-yet-valid');
  if (validUntil && now > validUntil) return refused('expired');
  const revocations = readRevocations(settings);
  if (typeof revocations === 'string') return refused(revocations);
  if (revocations.serials.has(content.serial)) return refused('revoked');
  const asOf = new Date(Math.min(Date.parse(event.at), revocations.at.getTime()));
  return { valid: true, ...content, validFrom, validUntil, asOf };
}

const dateOf = (text: string | null) => (text === null ? null : new Date(text));

/** Returns the content of a pass that one of the keys signed for this event, otherwise the reason of the refusal. */
function readPass(pass: string, { keys, eventId }: DoorSettings) {
  const [, text] = PASS.exec(pass) ?? [];
  const bytes = text === undefined ? undefined : fromBase32(text);
  if (!bytes) return 'malformed';
  const fields = bytes.subarray(0, FIELDS_BYTES);
  const signed = Buffer.concat([Buffer.from('FG2.'), fields]);
  const check = checkSignature(keys, String(fields.readUInt16BE(0)), signed, bytes.subarray(FIELDS_BYTES));
  if (check !== 'genuine') return check;
  if (fields.readUInt32BE(2) !== eventId) return 'other-event';
  return { ticketId: fields.readUInt32BE(6), serial: Number(fields.readBigUInt64BE(10)) };
}

/**
 * Returns the 82 bytes of 132 base32hex characters. The last four bits must be zero, so that a pass has only
 * one form.
 */
function fromBase32(text: string) {
  let bits = 0n;
  for (const character of text) bits = (bits << 5n) | BigInt(Number.parseInt(character, 32));
  if ((bits & 0xfn) !== 0n) return undefined;
  return Buffer.from((bits >> 4n).toString(16).padStart(164, '0'), 'hex');
}
