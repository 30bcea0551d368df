import type { KeyObject } from 'node:crypto';
import { readThroughCache, type Database } from '@floodgate/database';
import { readSigningKeys, type SigningKeys } from './keys.ts';
import { signPass } from './token.ts';

/** What a pass is for. */
export interface PassSubject {
  event: { id: number; startsAt: Date | null; endsAt: Date | null };
  ticketId: number;
  serial: number;
}

const DAY_MS = 86_400_000;

/** Signs passes, with keys that are a second old at most. */
export interface PassSigner {
  /** Resolves to the pass of a registration: always the same, until the event's time or the key changes. */
  tokenFor(subject: PassSubject): Promise<string>;
  /** Resolves to the keys by which passes are verified, by id. */
  publicKeys(): Promise<ReadonlyMap<number, KeyObject>>;
  /** Resolves to the keys that count now. */
  keys(): Promise<SigningKeys>;
}

/** Returns what signs passes with the keys of a database. */
export function createPassSigner({ db }: { db: Database }): PassSigner {
  const cache = readThroughCache<'keys', SigningKeys>(() => readSigningKeys(db));
  const keys = async () => cache.get('keys') ?? (await cache.forceFetch('keys'));
  return {
    keys,
    publicKeys: async () => (await keys()).publicKeys,
    tokenFor: async (subject) => signPassFor(subject, (await keys()).signing),
  };
}

/** Returns the pass of a registration, signed with a key. */
export function signPassFor(
  { event, ticketId, serial }: PassSubject,
  { id: keyId, privateKey }: SigningKeys['signing'],
): string {
  return signPass({ keyId, eventId: event.id, ticketId, serial, ...validityOf(event) }, privateKey);
}

/** From when to when passes of an event are valid: a day more on both sides, as doors open early and evenings grow long. */
export function validityOf({ startsAt, endsAt }: Omit<PassSubject['event'], 'id'>) {
  return {
    validFrom: startsAt && new Date(startsAt.getTime() - DAY_MS),
    validUntil: endsAt && new Date(endsAt.getTime() + DAY_MS),
  };
}
