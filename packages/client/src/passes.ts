import { pathOf, refusal, type Ask, type Send } from './asking.ts';
import type { CallOptions, FloodgateClient } from './client.ts';
import { FloodgateError } from './floodgate-error.ts';
import type { PassPictureResult } from './results.ts';
import { readPage, readRevocations, type PassKeySet, type Revocations } from './verify-pass.ts';

export interface RevokedPassesOptions extends CallOptions {
  /** The keys to verify with; fetched if they are left out. */
  keys?: PassKeySet;
  /** The pages of the last time. Only what is newer is fetched. */
  pages?: readonly string[];
}

/** The complete list of the partner's revoked passes, verified. */
export interface RevocationList extends Revocations {
  /** For `verifyPass`, and to go on from another time. */
  pages: string[];
}

const PAGE_SIZE = 1_000;

const KEYS = { path: '/.well-known/floodgate/pass-keys.json', accept: 'application/jwk-set+json' };

/** Returns what is about passes. */
export function createPasses(
  send: Send,
  ask: Ask,
): Pick<FloodgateClient, 'pass' | 'passPicture' | 'passKeys' | 'revokedPasses'> {
  const passPath = (passReference: string) => `${pathOf(passReference)}/pass`;

  async function fetchKeys(signal: AbortSignal | undefined): Promise<PassKeySet> {
    const outcome = await send(KEYS, signal);
    if (outcome.kind === 'answered' && outcome.code === '00')
      return JSON.parse(new TextDecoder().decode(outcome.data as Uint8Array)) as PassKeySet;
    throw refusal('the key set', { code: 'unknown', ...outcome });
  }

  async function fetchPage(after: string, signal: AbortSignal | undefined): Promise<string> {
    const path = `/api/v1/events/passes/revoked?after=${encodeURIComponent(after)}&limit=${PAGE_SIZE}`;
    const result = await ask('listRevokedPasses', path, signal);
    if (result.code !== '00') throw refusal('the list of revoked passes', result);
    return result.page.revocations;
  }

  return {
    pass: (passReference, { signal } = {}) => ask('getPass', passPath(passReference), signal),
    passPicture: async (passReference, { mediaType = 'image/png', signal } = {}) => {
      const result = await ask('getPass', { path: passPath(passReference), accept: mediaType }, signal);
      if (result.code !== '00') return result;
      const { pass: picture, ...others } = result as unknown as { code: '00'; pass: Uint8Array };
      return { ...others, picture } as PassPictureResult;
    },
    passKeys: ({ signal } = {}) => fetchKeys(signal),
    async revokedPasses({ keys: given, pages: known = [], signal } = {}) {
      const keys = given ?? (await fetchKeys(signal));
      // The last page may have grown since, so it is fetched again.
      const pages = known.slice(0, -1);
      for (let after = readable(known.at(-1), keys)?.after ?? '0', more = true; more;) {
        const jws = await fetchPage(after, signal);
        pages.push(jws);
        ({ cursor: after, more } = readable(jws, keys)!);
      }
      return verified(pages, keys);
    },
  };
}

/** Returns a page's content, undefined where there is none. Throws where the keys do not verify it. */
function readable(jws: string | undefined, keys: PassKeySet) {
  const page = jws === undefined ? undefined : readPage(jws, keys);
  if (typeof page === 'string') throw new FloodgateError(`the list of revoked passes: ${page}`, page);
  return page;
}

function verified(pages: string[], keys: PassKeySet): RevocationList {
  const { event: eventId, partner: partnerId } = readable(pages.at(-1), keys)!;
  const list = readRevocations({ keys, eventId, partnerId, revocations: pages });
  if (typeof list === 'string') throw new FloodgateError(`the list of revoked passes: ${list}`, list);
  return { ...list, pages };
}
