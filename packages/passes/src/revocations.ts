import { sign } from 'node:crypto';
import type { Database } from '@floodgate/database';
import { readJournal, type CursorProblem } from '@floodgate/journal';
import type { SigningKeys } from './keys.ts';

/** Whose passes: of one partner under an event, or (null) of all. */
export interface RevocationScope {
  shardId: number;
  eventId: number;
  partnerId: number | null;
}

/** A page of what was cancelled, as it is signed: whoever has the page before sees whether one is missing. */
export interface Revocations {
  event: number;
  /** Null: of all partners. */
  partner: number | null;
  /** Where the page before ended, and where this one does. */
  after: string;
  cursor: string;
  more: boolean;
  serials: number[];
  at: string;
}

/** Reads which passes were cancelled after a cursor, each once and in order. A page may be short, or empty, although there is more. */
export async function readRevocations(
  db: Database,
  { shardId, eventId, partnerId }: RevocationScope,
  after: number,
  limit: number,
): Promise<Revocations | CursorProblem> {
  const scope = { shardId, eventId, partnerId: partnerId ?? undefined };
  // As old as what it says: what is cancelled meanwhile comes on a later page.
  const at = new Date().toISOString();
  const page = await readJournal(db, { ...scope, kinds: ['cancelled'] }, after, limit);
  if (typeof page === 'string') return page;
  return {
    event: eventId,
    partner: partnerId,
    after: String(after),
    cursor: String(page.cursor),
    more: page.more,
    serials: page.entries.map(({ serial }) => serial!),
    at,
  };
}

/** Returns the page as a JWS that every library of the trade can verify: compact, EdDSA, with the id of the key. */
export function signRevocations(page: Revocations, { id, privateKey }: SigningKeys['signing']): string {
  const header = { alg: 'EdDSA', kid: String(id), typ: 'floodgate-revocations' };
  const text = [header, page]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  return `${text}.${sign(null, Buffer.from(text), privateKey).toString('base64url')}`;
}
