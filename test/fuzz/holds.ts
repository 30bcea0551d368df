import { BODY_LIMIT_BYTES, HOLD_LIMIT } from '@floodgate/contract';
import type { StrictRequest } from './read-strictly.ts';
import { RULES, valueOf } from './registration-rules.ts';
import { hasOtherType, ifUnclear } from './webhooks.ts';

// What the documentation promises of holds: an opinion of its own.

export const HOLDS = '/api/v1/events/holds';

const CHANGE = new RegExp(String.raw`^${HOLDS}/([\w-]+)/(confirm|extend|release)$`);
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const CHANGED = ['00', '34', '35'] as const;

const pathOf = ({ target }: StrictRequest) => target.split(/[?#]/, 1)[0]!;

/** Whether a request makes or changes a hold. */
export const isAboutHolds = (request: StrictRequest) =>
  request.method === 'POST' && (pathOf(request) === HOLDS || CHANGE.test(pathOf(request)));

/** Whether a request confirms a hold. Its body can be as large as that of a bulk call. */
export const confirmsHold = (request: StrictRequest) => CHANGE.exec(pathOf(request))?.[2] === 'confirm';

/** Whether the path names no hold that there could be. That is refused before an empty body is. */
export const hasWrongReference = (request: StrictRequest) =>
  !UUID.test(CHANGE.exec(pathOf(request))?.[1] ?? '0f1e2d3c-4b5a-4697-8879-6a5b4c3d2e1f');

/** What a caller is answered whose body is missing, empty or not read. Undefined: it is read. */
export function codesWithoutHoldBody(request: StrictRequest, isHoldForRight: boolean) {
  const [, id, change] = CHANGE.exec(pathOf(request)) ?? [];
  // Every field is optional.
  const isOmitted = request.body.length === 0 && !hasOtherType(request);
  if (id === undefined || !(change === 'extend' || isOmitted)) return undefined;
  if (request.body.length > BODY_LIMIT_BYTES) return ['10'] as const;
  const isRight = { extend: isHoldForRight, release: true, confirm: false }[change!];
  const codes = UUID.test(id) && isRight ? CHANGED : (['11'] as const);
  return change === 'extend' ? codes : [...codes, ...ifUnclear(request)];
}

/** What a caller is answered whose body is this JSON. */
export function codesOfHold(request: StrictRequest, body: object, hasRightHeaders: boolean) {
  const [, id, change] = CHANGE.exec(pathOf(request)) ?? [];
  if (id === undefined)
    return hasRightHeaders && isHold(body)
      ? (['00', '30', '31', '32', '37', '40', '41'] as const)
      : (['11'] as const);
  const isRight = UUID.test(id) && (change === 'confirm' ? isConfirmation(body) : isRelease(body));
  // The number of attendees and the pass references must be those of the hold.
  return isRight
    ? ([...CHANGED, '11', '33'] as const)
    : (['11', ...(UUID.test(id) ? (['34'] as const) : [])] as const);
}

const isList = (value: unknown): value is unknown[] =>
  Array.isArray(value) && value.length >= 1 && value.length <= HOLD_LIMIT;

const isRecord = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const obeys = (body: object, names: readonly string[]) =>
  names.every((name) => RULES[name]!(valueOf(body, name)) === null);

function isHold(body: object): boolean {
  const tickets = valueOf(body, 'tickets');
  if (!isList(tickets) || !obeys(body, ['partnerReference'])) return false;
  const seats = tickets.map((one) =>
    isRecord(one) && obeys(one, ['organizedEventTicketID']) ? seatsIn(valueOf(one, 'seats')) : NaN,
  );
  return seats.reduce((sum, count) => sum + count, 0) <= HOLD_LIMIT;
}

const seatsIn = (value: unknown) =>
  typeof value === 'number' && Math.floor(value) === value && value >= 1 && value <= HOLD_LIMIT ? value : NaN;

const ATTENDEE = Object.keys(RULES).filter(
  (name) => !['organizedEventTicketID', 'partnerReference'].includes(name),
);

function isConfirmation(body: object): boolean {
  const [attendees, contact] = [valueOf(body, 'attendees'), valueOf(body, 'contact')];
  if ((attendees === undefined) === (contact === undefined)) return false;
  const given = attendees === undefined ? [contact] : attendees;
  return isList(given) && given.every((one) => isRecord(one) && obeys(one, ATTENDEE));
}

function isRelease(body: object): boolean {
  const references = valueOf(body, 'passReferences');
  return (
    references === undefined || (isList(references) && references.every((one) => typeof one === 'string'))
  );
}
