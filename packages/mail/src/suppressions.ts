import { createHash } from 'node:crypto';
import { plainArray, type Database, type Mode } from '@floodgate/database';
import type { Ended } from '@floodgate/deliveries';
import { sql } from 'kysely';
import type { MailMessage } from './message.ts';

/** Returns the digest of an address, which identifies it without containing it. The digest ignores case. */
export const digestOf = (address: string): string =>
  createHash('sha256').update(address.trim().toLowerCase()).digest('hex');

export interface LoadOptions {
  db: Database;
  /** Whether e-mails leave this machine. */
  isOutside: boolean;
}

/** Top-level domains that never exist (RFC 2606): an address there is a mistake or a test. */
const RESERVED = /\.(?:invalid|example|test)\.?$/i;

/** Returns for each address why it gets no e-mail about an event of this mode; undefined if it gets one. */
export async function findRefusals({ db, isOutside }: LoadOptions, mode: Mode, addresses: readonly string[]) {
  const digests = addresses.map(digestOf);
  const { rows } = await sql<{ digest: string }>`
    select digest from mail_suppressions where digest = any(${plainArray(digests)}::text[])`.execute(db);
  const suppressed = new Set(rows.map(({ digest }) => digest));
  return addresses.map((address, index) => {
    if (suppressed.has(digests[index]!)) return 'suppressed';
    if (isOutside && mode === 'test') return 'test event';
    return isOutside && RESERVED.test(address) ? 'reserved address' : undefined;
  });
}

/** Suppresses further e-mails to an address. */
export async function suppress(
  db: Database,
  { eventId, ...refusal }: { digest: string; reason: string; eventId: number },
): Promise<void> {
  await db
    .insertInto('mail_suppressions')
    .values({ ...refusal, event_id: eventId })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Suppresses addresses that were refused permanently. */
export async function suppressRefused(db: Database, ended: readonly Ended<MailMessage>[]): Promise<void> {
  for (const { delivery, message, attempt, outcome } of ended) {
    const isRefused = attempt?.kind === 'refused' && attempt.isPermanent;
    if (!message || !isRefused || outcome.state !== 'undeliverable') continue;
    const { eventId } = delivery;
    await suppress(db, { digest: digestOf(message.to), reason: attempt.reason, eventId });
  }
}

/** Returns the addresses that get no more e-mails, the newest first. */
export const listSuppressions = (db: Database) =>
  db
    .selectFrom('mail_suppressions')
    .select(['digest', 'reason', 'event_id as eventId', 'at'])
    .orderBy('at', 'desc')
    .orderBy('digest')
    .execute();
