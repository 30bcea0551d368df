import { Type, type Static } from '@sinclair/typebox';
import { nullable, oneOf, Text, Whole } from '@floodgate/contract';

// The requests and answers of devices. apps/docs/how-it-works/door.md explains them.

/** Maximum number of scans in a call. */
export const SCAN_LIMIT = 500;

/** The outcomes that a device can decide by itself. */
const DECISIONS = [
  'admitted',
  'exited',
  'undone',
  'already-admitted',
  'cancelled',
  'wrong-gate',
  'too-early',
  'too-late',
  'unknown',
  'invalid-signature',
  'revoked',
] as const;

/** Far more than a device can scan at an event: one scan each second for eleven days. */
const MAX_COUNTER = 1_000_000;

const Counter = (description: string) => Whole(description, 1, { minimum: 1, maximum: MAX_COUNTER });
const Base64 = (description: string, length: number) =>
  Text(`${description}, as base64url`, 'A'.repeat(length), { pattern: `^[A-Za-z0-9_-]{${length}}$` });
const Instant = (description: string) =>
  Text(`${description}, by the clock of the device, in UTC with milliseconds`, '2026-11-21T19:00:00.000Z', {
    pattern: String.raw`^20\d\d-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$`,
  });

export const EnrolRequest = Type.Object({
  code: Text('Required, the code of the device', '0-7-K7QMX-3XNAP', { maxLength: 40 }),
  publicKey: Base64('Required, the public Ed25519 key of the device', 43),
  signature: Base64('Required, the signature', 86),
  version: Text('Required, the version of the scanner, 1 to 64 characters', '1.0.0', {
    minLength: 1,
    maxLength: 64,
  }),
});
export type EnrolRequest = Static<typeof EnrolRequest>;

const Scan = Type.Object(
  {
    counter: Counter('Required, 1 for the first scan of the device, then without gaps'),
    previousHash: Text('Required, the hash of the scan before, or an empty text', '', {
      pattern: '^([A-Za-z0-9_-]{43})?$',
    }),
    pass: Text('Required, the text of the pass or a pass reference, 1 to 300 characters', 'FG2.…', {
      pattern: String.raw`^[^\x00-\x1f\x7f]{1,300}$`,
    }),
    gateID: Whole('Required, the id of the gate', 3, { minimum: 1, maximum: 2_147_483_647 }),
    direction: oneOf(['in', 'out', 'undo'], 'Required, in, out or undo', 'in'),
    of: nullable('Required, the counter of an earlier scan, or null', null, Counter('')),
    scannedAt: Instant('Required, the time of the scan'),
    decision: oneOf([...DECISIONS, null], 'Required, the outcome that the device decided, or null', null),
  },
  { description: 'A scan' },
);
export type Scan = Static<typeof Scan>;

export const ScansRequest = Type.Object({
  scans: Type.Array(Scan, {
    minItems: 1,
    maxItems: SCAN_LIMIT,
    description: `Required, 1 to ${SCAN_LIMIT} scans with consecutive counters`,
  }),
  sentAt: Instant('Required, the time of this call'),
  signature: Base64('Required, the signature', 86),
});
export type ScansRequest = Static<typeof ScansRequest>;

/** The outcome of a scan. */
export interface Outcome {
  counter: number;
  outcome: (typeof DECISIONS)[number] | 'admitted-again' | 'superseded';
  /** Null unless the gate shows names and the device asked the server. */
  name: string | null;
  /** The title of the ticket. */
  ticket: string | null;
  /** The admission that was first. */
  first: { at: string; gate: string; device: string } | null;
  /** The event of an unknown pass that is genuine, if the device asked the server. */
  otherEvent: { name: string; startsAt: string | null; timeZone: string | null } | null;
}

const Digits = (description: string, pattern = '^(0|[1-9][0-9]{0,14})$') =>
  Type.String({ pattern, description });
export const CounterQuery = Type.Object({
  counter: Digits(`Required, the last counter, 0 to ${MAX_COUNTER}`, '^(0|[1-9][0-9]{0,5}|1000000)$'),
});
export const RevocationsQuery = Type.Object({ after: Digits('Required, the cursor of the last page, or 0') });
