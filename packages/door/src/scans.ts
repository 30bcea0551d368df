import { hash } from 'node:crypto';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { parsePassReference } from '@floodgate/contract';
import { inCamelCase, type Database } from '@floodgate/database';
import { parsePass, recognizePass, type PassSigner } from '@floodgate/passes';
import { InvalidInput } from '@floodgate/service/failure';
import { sql } from 'kysely';
import type { DevicePrincipal } from './devices.ts';
import { isSignedBy, textOf } from './signatures.ts';
import type { Outcome, Scan, ScansRequest } from './wire.ts';

/** Passes that are checked in one tick: each takes about 0.03 ms. */
const CHECKED_AT_ONCE = 32;

/** The direction of the decisions that are possible for one direction only. */
const DIRECTION_OF: Record<string, string> = { admitted: 'in', exited: 'out', undone: 'undo' };

/** An outcome as record_scans returns it. */
type RecordedScan = Omit<Outcome, 'ticket' | 'otherEvent'> & { ticketId: number | null };

/** Resolves to the outcomes in the order of the scans, or to the reason why nothing was recorded. */
export type Recorded =
  { outcomes: RecordedScan[] } | { problem: 'revoked' } | { problem: 'forked'; counter: number };

/**
 * Records scans of a device, and resolves to their outcomes. Safe to repeat. Throws InvalidInput if the
 * signature is wrong, or if the scans are not a chain.
 */
export async function recordScans(
  db: Database,
  device: DevicePrincipal,
  { scans, sentAt, signature }: ScansRequest,
  signer: PassSigner,
  { validFrom, validUntil }: Record<'validFrom' | 'validUntil', string | null>,
): Promise<Recorded> {
  const hashes = hashesOf(device.deviceId, scans);
  const last = scans.at(-1)!;
  if (!isSignedBy(device.publicKey, textOf('scans', sentAt, hashes.at(-1)!), signature))
    throw new InvalidInput({ signature: 'the signature of these scans by the key of the device' });
  const skewMs = Date.now() - Date.parse(sentAt);
  const rows = await rowsOf(device, scans, hashes, skewMs, await signer.keys());
  const { rows: answers } = await sql<{ recorded: Recorded }>`
    select record_scans(
      ${device.shardId}::integer, ${device.deviceId}::integer, ${JSON.stringify(rows)}::json,
      ${scans[0]!.counter}::bigint,
      ${last.counter}::bigint, ${skewMs}::bigint, ${validFrom}::timestamptz, ${validUntil}::timestamptz,
      ${Buffer.from(signature, 'base64url')}::bytea, ${sentAt}::text
    ) as recorded`.execute(db);
  const { recorded } = answers[0]!;
  if ('outcomes' in recorded) recorded.outcomes.sort((one, other) => one.counter - other.counter);
  return recorded;
}

/** Returns the hash of each scan. Throws InvalidInput if one does not follow the scan before, or contradicts itself. */
function hashesOf(deviceId: number, scans: readonly Scan[]): string[] {
  const hashes: string[] = [];
  for (const [index, scan] of scans.entries()) {
    const follows = { counter: scans[0]!.counter + index, previousHash: hashes.at(-1) ?? scan.previousHash };
    const [field, rule] = faultOf(scan, follows) ?? [];
    if (field) throw new InvalidInput({ [`scans[${index}].${field}`]: rule! });
    const { counter, previousHash, pass, gateID, direction, of, scannedAt, decision } = scan;
    const text = textOf(deviceId, counter, previousHash, pass, gateID, direction, of, scannedAt, decision);
    hashes.push(hash('sha256', text, 'base64url'));
  }
  return hashes;
}

/** Returns the field of a scan that breaks a rule, and the rule. */
function faultOf(
  { counter, previousHash, of, direction, scannedAt, decision }: Scan,
  follows: Pick<Scan, 'counter' | 'previousHash'>,
): [string, string] | null {
  if (counter !== follows.counter) return ['counter', 'one more than the counter before'];
  if (previousHash !== follows.previousHash || (counter === 1 && previousHash !== ''))
    return ['previousHash', 'the hash of the scan before; empty for the first scan'];
  // 30 February is a time for JavaScript only.
  if (new Date(scannedAt).toISOString() !== scannedAt) return ['scannedAt', 'a time that exists'];
  if (of !== null && of >= counter) return ['of', 'the counter of an earlier scan, or null'];
  return isPossible(direction, decision) ? null : ['decision', 'an outcome of this direction, or null'];
}

const isPossible = (direction: string, decision: string | null) =>
  decision === null || (DIRECTION_OF[decision] ?? direction) === direction;

/** Returns what record_scans needs of each scan, in the order in which it locks registrations. */
async function rowsOf(
  { eventId }: DevicePrincipal,
  scans: readonly Scan[],
  hashes: readonly string[],
  skewMs: number,
  { privateKeys }: Awaited<ReturnType<PassSigner['keys']>>,
) {
  const bytea = (text: string) => `\\x${Buffer.from(text, 'base64url').toString('hex')}`;
  const rows = [];
  const takenBack = new Set(scans.map(({ of }) => of));
  let latestMs = -Infinity;
  for (const [index, { pass, previousHash, ...scan }] of scans.entries()) {
    if (index % CHECKED_AT_ONCE === CHECKED_AT_ONCE - 1) await yieldToEventLoop();
    latestMs = Math.max(latestMs, Date.parse(scan.scannedAt) + skewMs);
    const latest = new Date(latestMs).toISOString();
    const isTakenBack = takenBack.has(scan.counter);
    const chain = { hash: bytea(hashes[index]!), previous: bytea(previousHash) };
    rows.push({ ...scan, ...chain, latest, isTakenBack, ...subjectOf(pass, eventId, privateKeys) });
  }
  const orderOf = ({ serial }: { serial?: number | null }) => serial ?? 0;
  return rows.sort((one, other) => orderOf(one) - orderOf(other) || one.counter - other.counter);
}

/** Returns the text of a pass as it is signed: people type small letters, and so do scanners with Caps Lock. */
const spelled = (text: string) => text.trim().toUpperCase();

/** Returns the registration that a pass or pass reference names, or the problem with it. */
function subjectOf(given: string, eventId: number, privateKeys: Parameters<typeof recognizePass>[1]) {
  const text = spelled(given);
  const reference = parsePassReference(text);
  if (reference?.eventId === eventId) return { serial: reference.serial, code: reference.passCode };
  const pass = recognizePass(text, privateKeys);
  if (typeof pass !== 'string')
    return pass.eventId === eventId
      ? { serial: pass.serial, ticket: pass.ticketId }
      : { problem: 'unknown' as const };
  if (pass === 'forged') return { problem: 'invalid-signature' as const };
  // The key was withdrawn. The registration is stored with the scan, because only its pass is void.
  const content = pass === 'unknown-key' ? parsePass(text) : null;
  if (content?.eventId !== eventId) return { problem: 'unknown' as const };
  return { serial: content.serial, ticket: content.ticketId, problem: 'revoked' as const };
}

/** Returns the event of a genuine pass, or of a right pass reference, that is not of this event. Null: it is none. */
export async function findOtherEvent(
  db: Database,
  given: string,
  eventId: number,
  signer: PassSigner,
): Promise<Outcome['otherEvent']> {
  const text = spelled(given);
  const pass = recognizePass(text, (await signer.keys()).privateKeys);
  const named = typeof pass === 'string' ? parsePassReference(text) : { ...pass, passCode: null };
  if (!named || named.eventId === eventId) return null;
  const { passCode, serial } = named;
  const events = inCamelCase(db).selectFrom('events').select(['shardId', 'name', 'startsAt', 'timeZone']);
  const event = await events.where('id', '=', named.eventId).executeTakeFirst();
  if (!event) return null;
  const { shardId, name, startsAt, timeZone } = event;
  const registrations = inCamelCase(db).selectFrom('registrations').select('serial');
  const isRight =
    passCode === null ||
    (await registrations
      .where(({ and }) => and({ shardId, serial, eventId: named.eventId, passCode }))
      .executeTakeFirst());
  return isRight ? { name, startsAt: startsAt && startsAt.toISOString(), timeZone } : null;
}
