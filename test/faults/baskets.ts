import { seatId, type RequestRecord } from './history.ts';
import {
  attendeeOf,
  EVENTS,
  givenSeats,
  namedAttendeeOf,
  passReferenceOf,
  posted,
  type Call,
  type Calls,
} from './calls.ts';

const BASKET_SEATS = 4;
/** The others are confirmed, and some of them extended before. */
const ABANDON_PERCENT = 20;
const EXTEND_PERCENT = 20;
const RELEASE_PERCENT = 30;
const CONTACT_PERCENT = 40;
const RUSH_CANCEL_PERCENT = 30;
/** In seconds. */
const BASKET_HOLD_FOR = '300';

const ENDS_OF = { confirm: 'confirmations', extend: 'extensions', release: 'releases' } as const;

/** Returns the call that holds some seats of one or two tickets. */
export function fillBasket(calls: Calls, event: number): Call {
  const { random, events } = calls.options;
  const isKeyed = calls.drawKeyed(event);
  const group = calls.nextId();
  const size = random.between(1, BASKET_SEATS);
  const ofFirst = random.between(1, size);
  const ticketIds = random.shuffle(events[event]!.ticketIds.slice(0, -1));
  const requests = Array.from({ length: size }, (_, index) =>
    calls.want(event, {
      id: seatId(group, index),
      ticketId: ticketIds[index < ofFirst ? 0 : 1]!,
      isKeyed,
      isHeld: true,
      isInBasket: true,
      group,
    }),
  );
  const tickets = [ofFirst, size - ofFirst].map((seats, index) => ({
    organizedEventTicketID: ticketIds[index],
    seats,
  }));
  const body = { tickets: tickets.filter(({ seats }) => seats > 0), partnerReference: group };
  const call = { name: 'hold', isWhole: true, path: `${EVENTS}/holds`, holdFor: BASKET_HOLD_FOR } as const;
  return { ...call, requests, isKeyed, body };
}

/** Abandons a basket, or releases some seats and confirms the others; sometimes at every API, where all are released as well. */
export async function useBasket(calls: Calls, seats: RequestRecord[]): Promise<void> {
  const { random, apiUrls, events } = calls.options;
  const [{ event, group, attempts }] = seats as [RequestRecord];
  const [holdReference] = attempts.flatMap(({ end }) => ('holdReference' in end ? end.holdReference : []));
  const change = (
    name: 'confirm' | 'extend' | 'release',
    changed: RequestRecord[],
    body: object,
    api?: number,
  ) => {
    const lists = changed.map((seat) => seat[ENDS_OF[name]]);
    const path = `${EVENTS}/holds/${holdReference}/${name}`;
    // Without a body, all seats of the basket.
    const named = name === 'release' && !('passReferences' in body) ? seats : changed;
    const asked = { name, seats: givenSeats(named) };
    return calls.repeat({ change: asked, event, path, lists, init: posted(body), api });
  };
  const release = (some: RequestRecord[]) =>
    change('release', some, { passReferences: some.map(passReferenceOf) });
  if (random.chance(EXTEND_PERCENT)) await change('extend', seats, {});
  if (random.chance(ABANDON_PERCENT)) return;
  const released = random.chance(RELEASE_PERCENT) ? seats.filter(() => random.chance(50)) : [];
  if (released.length > 0 && (await release(released)) !== '00') return;
  const kept = seats.filter((seat) => !released.includes(seat));
  if (kept.length === 0) return;
  // A reset may go on, and leave fewer seats than attendees.
  const hasContact = events[event]!.isTest || random.chance(CONTACT_PERCENT);
  const body = hasContact ? { contact: attendeeOf(group!) } : { attendees: kept.map(namedAttendeeOf) };
  if (random.chance(RUSH_CANCEL_PERCENT))
    await Promise.all(
      [...apiUrls.keys()].flatMap((api) => [
        change('confirm', kept, body, api),
        change('release', kept, {}, api),
      ]),
    );
  else await change('confirm', kept, body);
  // Too late for those that are kept, also beside others that were released.
  if (random.chance(RELEASE_PERCENT))
    await change('release', kept, { passReferences: seats.map(passReferenceOf) });
}
