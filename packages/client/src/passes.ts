import { resultOf, succeeded, type Ask, type Send } from './ask.ts';
import { FloodgateError, type CallOptions, type PictureOptions } from './options.ts';
import type { RevokedPassesOptions, SignedEventOptions } from './options.ts';
import { pathOf } from './queries.ts';
import type { PassKeySet, PassPictureResult, RevocationList, VerifiedEvent } from './results.ts';
import { readDocument, readEvent, readRevocations, type RevocationPage } from './signed-documents.ts';

const KEYS = { path: '/.well-known/floodgate/pass-keys.json', accept: 'application/jwk-set+json' };
const EVENT = '/api/v1/events/passes/event';
const REVOKED = '/api/v1/events/passes/revoked?limit=1000&after=';

/** Returns the methods for passes. */
export function createPasses(send: Send, ask: Ask) {
  async function fetchKeys({ signal }: CallOptions = {}): Promise<PassKeySet> {
    const answer = await send(KEYS, { signal });
    succeeded('the key set', resultOf([], 'data', answer));
    // It has no envelope: the data are the bytes of the answer.
    return JSON.parse(new TextDecoder().decode(answer.responseData as Uint8Array)) as PassKeySet;
  }

  return {
    /** Returns the pass of a confirmed registration. */
    pass: (passReference: string, options?: CallOptions) =>
      ask('getPass', 'pass', { path: `${pathOf(passReference)}/pass` }, options),
    /** Returns the QR code of a pass as a picture: PNG, or SVG. */
    async passPicture(passReference: string, options: PictureOptions = {}): Promise<PassPictureResult> {
      const { mediaType: accept = 'image/png' } = options;
      const result = await ask('getPass', 'pass', { path: `${pathOf(passReference)}/pass`, accept }, options);
      if (result.code !== '00') return result;
      const { pass, ...others } = result;
      // A picture has no envelope: the data are its bytes, although the operation's type is the pass as JSON.
      return { ...others, picture: pass as unknown as Uint8Array };
    },
    /** Returns the public keys that verify passes. Throws a FloodgateError if they cannot be fetched. */
    passKeys: fetchKeys,
    /**
     * Returns the verified event with its current times. Throws a FloodgateError if the service refuses, or
     * the document is not genuine.
     */
    async signedEvent(options: SignedEventOptions = {}): Promise<VerifiedEvent> {
      const { keys = await fetchKeys(options) } = options;
      const result = await ask('getSignedEvent', 'signedEvent', { path: EVENT }, options);
      const { event: document } = succeeded('the event', result).signedEvent;
      return { ...verified('the event', readEvent(document, keys)), document };
    },
    /**
     * Returns the verified list of your revoked passes. Throws a FloodgateError if the service refuses, or
     * the list is not genuine.
     */
    async revokedPasses(options: RevokedPassesOptions = {}): Promise<RevocationList> {
      const { keys = await fetchKeys(options), pages: known = [] } = options;
      const what = 'the list of revoked passes';
      const read = (jws: string) => verified(what, readDocument(jws, 'revocations', keys));
      // The last page may have new entries, so it is fetched again.
      const pages = known.slice(0, -1);
      let page: RevocationPage | undefined = pages.length > 0 ? read(pages.at(-1)!) : undefined;
      do {
        const path = REVOKED + (page?.cursor ?? '0');
        const result = await ask('listRevokedPasses', 'page', { path }, options);
        const { revocations } = succeeded(what, result).page;
        page = read(revocations);
        pages.push(revocations);
      } while (page.more);
      const settings = { keys, eventId: page.event, partnerId: page.partner, revocations: pages };
      return { ...verified(what, readRevocations(settings)), pages };
    },
  };
}

export type Passes = ReturnType<typeof createPasses>;

/** Returns the content of a document. Throws if it is a fault. */
function verified<Content>(what: string, content: Content): Exclude<Content, string> {
  if (typeof content === 'string') throw new FloodgateError(`${what}: ${content}`, content);
  return content as Exclude<Content, string>;
}
