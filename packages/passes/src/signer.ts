import { readThroughCache, type Database } from '@floodgate/database';
import { readSigningKeys, type SigningKeys } from './keys.ts';
import { signPass, type PassSubject } from './token.ts';

/** Signs passes. The keys are at most one second old. */
export interface PassSigner {
  /** Resolves to the pass of a registration. It stays the same until the signing key changes. */
  tokenFor(subject: PassSubject): Promise<string>;
  /** Resolves to the current keys. */
  keys(): Promise<SigningKeys>;
}

/** Returns a signer with the keys of a database. */
export function createPassSigner({ db }: { db: Database }): PassSigner {
  const cache = readThroughCache<'keys', SigningKeys>(() => readSigningKeys(db));
  const keys = async () => cache.get('keys') ?? (await cache.forceFetch('keys'));
  return { keys, tokenFor: async (subject) => signPass(subject, (await keys()).signing) };
}
