import { BODY_LIMIT_BYTES, parsePassReference } from '@floodgate/contract';
import { Finding } from './read-answers.ts';
import type { StrictRequest } from './read-strictly.ts';
import type { Target } from './target.ts';

const CANCEL = /^\/api\/v1\/events\/registrations\/([A-Za-z0-9-]+)\/cancel(?:[?#]|$)/;

/** Returns the pass reference that a request wants to cancel, undefined where it wants something else. */
export const cancelledBy = ({ method, target }: StrictRequest): string | undefined =>
  method === 'POST' ? CANCEL.exec(target)?.[1] : undefined;

/** What a caller that may cancel is answered. The body is not read, but it may be too large. */
export const codesOfCancel = ({ body }: StrictRequest) =>
  body.length > BODY_LIMIT_BYTES ? (['10'] as const) : (['00', '34'] as const);

/** Compares an answer with what is registered, and remembers what was cancelled. */
export function judgeCancellation(target: Target, passReference: string, code: string): void {
  const { partnerId, model } = target;
  const parts = parsePassReference(passReference);
  const isOwn = parts?.prefix === target.passPrefix;
  const outcome = isOwn ? model.cancel({ ...parts, partnerId, deadline: null }) : null;
  const expected = outcome === 'cancelled' ? '00' : '34';
  if (code !== expected)
    throw new Finding(`${passReference} was answered ${code}, the model expects ${expected}`);
}
