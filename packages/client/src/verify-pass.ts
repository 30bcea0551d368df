import type { EventFault, PassKeySet, RevocationsFault } from './results.ts';
import { checkSignature, readEvent, readRevocations, type DoorSettings } from './signed-documents.ts';

/** Why a pass does not admit. A fault of a document refuses every pass until the document is replaced. */
export type PassRefusal =
  | 'malformed'
  /** The key set is older than the pass's key, or the key was withdrawn: fetch the keys again. */
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
      /** The current times of the event. Null: it has no such time. */
      validFrom: Date | null;
      validUntil: Date | null;
      /** The age of the older document: changes after this time are not known to the door. */
      asOf: Date;
    }
  | { valid: false; reason: PassRefusal };

const PASS = /^FG2\.([0-9A-V]{132})$/;
const FIELDS_BYTES = 18;

/**
 * Returns whether a pass admits its holder now, and the reason if not. Needs no network. The keys, the event id and the partner
 * must come from a trusted place; pass and documents may come from anywhere. Does not know who is inside already.
 */
export function verifyPass(pass: string, settings: DoorSettings): PassVerdict {
  const refused = (reason: PassRefusal) => ({ valid: false, reason }) as const;
  const content = readPass(pass, settings.keys);
  if (typeof content === 'string') return refused(content);
  const { eventId, ticketId, serial } = content;
  if (eventId !== settings.eventId) return refused('other-event');
  const event = readEvent(settings.event, settings);
  if (typeof event === 'string') return refused(event);
  const [validFrom, validUntil] = [dateOf(event.validFrom), dateOf(event.validUntil)];
  const timeRefusal = checkTime(validFrom, validUntil, settings.now);
  if (timeRefusal) return refused(timeRefusal);
  const revocations = readRevocations(settings);
  if (typeof revocations === 'string') return refused(revocations);
  if (revocations.serials.has(serial)) return refused('revoked');
  const asOf = new Date(Math.min(Date.parse(event.at), revocations.at.getTime()));
  return { valid: true, ticketId, serial, validFrom, validUntil, asOf };
}

function checkTime(validFrom: Date | null, validUntil: Date | null, now = new Date()) {
  if (validFrom && now < validFrom) return 'not-yet-valid';
  return validUntil && now > validUntil ? 'expired' : undefined;
}

const dateOf = (text: string | null) => (text === null ? null : new Date(text));

/** Returns the content of a pass that one of the keys signed, else the reason. */
function readPass(pass: string, keys: PassKeySet) {
  const [, text] = PASS.exec(pass) ?? [];
  const bytes = text === undefined ? undefined : fromBase32(text);
  if (!bytes) return 'malformed';
  const fields = bytes.subarray(0, FIELDS_BYTES);
  const signed = Buffer.concat([Buffer.from('FG2.'), fields]);
  const check = checkSignature(keys, String(fields.readUInt16BE(0)), signed, bytes.subarray(FIELDS_BYTES));
  if (check !== 'genuine') return check;
  return {
    eventId: fields.readUInt32BE(2),
    ticketId: fields.readUInt32BE(6),
    serial: Number(fields.readBigUInt64BE(10)),
  };
}

/** Returns the 82 bytes of 132 characters of base32hex. The last four bits are zero, so that a pass has one form. */
function fromBase32(text: string): Buffer | undefined {
  let bits = 0n;
  for (const character of text) bits = (bits << 5n) | BigInt(Number.parseInt(character, 32));
  if ((bits & 0xfn) !== 0n) return undefined;
  return Buffer.from((bits >> 4n).toString(16).padStart(164, '0'), 'hex');
}
