import { BODY_LIMIT_BYTES } from '@floodgate/contract';
import type { StrictRequest } from './read-strictly.ts';
import { RULES, valueOf } from './registration-rules.ts';

// What the documentation promises of waiting lists: an opinion of its own.

export const WAITING_LIST = '/api/v1/events/waiting-list';

const pathOf = ({ target }: StrictRequest) => target.split(/[?#]/, 1)[0]!;

/** Whether a request joins or leaves a waiting list. */
export const isAboutWaiting = (request: StrictRequest) =>
  request.method === 'POST' && /^\/api\/v1\/events\/waiting-list(?:\/[\w-]+\/leave)?$/.test(pathOf(request));

const isSeats = (value: unknown) =>
  value === undefined ||
  (typeof value === 'number' && Math.floor(value) === value && value >= 1 && value <= 10);

const isContact = (value: unknown) =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  ['fullName', 'emailAddress'].every((name) => RULES[name]!(valueOf(value, name)) === null);

/** What a caller is answered who joins with this body. No ticket is sold out, and only the first one has a waiting list. */
export function codesOfJoin(body: object) {
  const isRight =
    isContact(valueOf(body, 'contact')) &&
    isSeats(valueOf(body, 'seats')) &&
    ['organizedEventTicketID', 'partnerReference'].every(
      (name) => RULES[name]!(valueOf(body, name)) === null,
    );
  return isRight ? (['30', '31', '38', '39'] as const) : (['11'] as const);
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** What a caller is answered who leaves, undefined for one who joins. The body is not read, but it may be too large. */
export function codesOfLeave(request: StrictRequest) {
  if (pathOf(request) === WAITING_LIST) return undefined;
  if (request.body.length > BODY_LIMIT_BYTES) return ['10'] as const;
  return UUID.test(pathOf(request).split('/')[5]!) ? (['34'] as const) : (['11'] as const);
}
