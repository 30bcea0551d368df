import { createHash } from 'node:crypto';
import { normalizeEmail } from '@floodgate/contract';
import { plainArray, type Database, type Mode } from '@floodgate/database';
import type { EndedDelivery } from '@floodgate/deliveries';
import { sql } from 'kysely';
import type { MailMessage } from '../message.ts';

// Addresses that get no e-mails.

/** The facts that decide whether an address gets e-mails. */
export interface RefusalOptions {
  db: Database;
  /** Whether e-mails leave this machine. */
  isOutside: boolean;
}

/** Returns the digest of an address, which identifies it without containing it. The digest ignores case. */
export const digestOf = (address: string): string =>
  createHash('sha256').update(normalizeEmail(address).toLowerCase()).digest('hex');

/** Top-level domains that never exist (RFC 2606): an address there is a mistake or a test. */
const RESERVED = /\.(?:invalid|example|test)\.?$/i;

/** Returns for each address why it gets no e-mail about an event of this mode; undefined if it gets one. */
export async function findRefusals(
  { db, isOutside }: RefusalOptions,
  mode: Mode,
  addresses: readonly string[],
) {
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

/** Suppresses further e-mails to addresses that were refused permanently. */
export async function suppressRefused(
  db: Database,
  ended: readonly EndedDelivery<MailMessage>[],
): Promise<void> {
  for (const { delivery, message, attempt, outcome } of ended) {
    const isRefused = attempt?.kind === 'refused' && attempt.isPermanent;
    if (!message || !isRefused || outcome.state !== 'undeliverable') continue;
    await db
      .insertInto('mail_suppressions')
      .values({ digest: digestOf(message.to), reason: attempt.reason, event_id: delivery.eventId })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }
}
