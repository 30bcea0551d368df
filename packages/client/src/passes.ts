import { pathOf, refusal, type Ask, type Send } from './queries.ts';
import type { CallOptions, FloodgateClient } from './client.ts';
import { FloodgateError } from './floodgate-error.ts';
import type { PassPictureResult } from './results.ts';
import {
  readEvent,
  readPage,
  readRevocations,
  type EventDocument,
  type PassKeySet,
  type Revocations,
} from './signed-documents.ts';

export interface SignedEventOptions extends CallOptions {
  /** The keys to verify with; fetched if they are left out. */
  keys?: PassKeySet;
}

/** The current event, verified. */
export interface VerifiedEvent extends EventDocument {
  /** For `verifyPass`. */
  document: string;
}

export interface RevokedPassesOptions extends SignedEventOptions {
  /** The pages of an earlier call. Only newer ones are fetched. */
  pages?: readonly string[];
}

/** The complete list of the partner's revoked passes, verified. */
export interface RevocationList extends Revocations {
  /** For `verifyPass`, and to continue in a later call. */
  pages: string[];
}

const PAGE_SIZE = 1_000;

const KEYS = { path: '/.well-known/floodgate/pass-keys.json', accept: 'application/jwk-set+json' };

/** Returns the methods for passes. */
export function createPasses(
  send: Send,
  ask: Ask,
): Pick<FloodgateClient, 'pass' | 'passPicture' | 'passKeys' | 'signedEvent' | 'revokedPasses'> {
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
    async signedEvent({ keys: given, signal } = {}) {
      const keys = given ?? (await fetchKeys(signal));
      const result = await ask('getSignedEvent', '/api/v1/events/passes/event', signal);
      if (result.code !== '00') throw refusal('the event', result);
      const { event: document } = result.signedEvent;
      return { ...verified('the event', readEvent(document, { keys })), document };
    },
    async revokedPasses({ keys: given, pages: known = [], signal } = {}) {
      const keys = given ?? (await fetchKeys(signal));
      const read = (jws: string) => verified('the list of revoked passes', readPage(jws, keys));
      // The last page may have grown since, so it is fetched again.
      const pages = known.slice(0, -1);
      const last = known.at(-1);
      let after = last === undefined ? '0' : read(last).after;
      for (;;) {
        const jws = await fetchPage(after, signal);
        const page = read(jws);
        pages.push(jws);
        after = page.cursor;
        if (page.more) continue;
        const settings = { keys, eventId: page.event, partnerId: page.partner, revocations: pages };
        return { ...verified('the list of revoked passes', readRevocations(settings, settings)), pages };
      }
    },
  };
}

/** Returns the content of a document. Throws its fault. */
function verified<Content>(what: string, content: Content): Exclude<Content, string> {
  if (typeof content === 'string') throw new FloodgateError(`${what}: ${content}`, content);
  return content as Exclude<Content, string>;
}
