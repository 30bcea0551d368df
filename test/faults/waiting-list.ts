import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import { findProblemsOfLists } from '../waiting-list/quiet-list.ts';
import {
  attendeeOf,
  BACKOFF_MS,
  endOf,
  EVENTS,
  nameOf,
  PERSIST_MS,
  posted,
  RETRY_CODES,
  type Calls,
} from './calls.ts';
import { failuresOf, isUnknown, type Tolerance, type Violation } from './check-history.ts';
import type { Deployment } from './deployment.ts';
import type { EventOnSale } from './events-on-sale.ts';
import { isSaid, labelOf, type AttemptEnd, type StoredEntry, type WaitingRecord } from './history.ts';
import type { Partners } from './partners.ts';
import type { Random } from './random.ts';

const LIST = `${EVENTS}/waiting-list`;
const MOST_SEATS = 3;
const REPLAY_PERCENT = 10;
const LEAVE_PERCENT = 10;
/** Of those that have an offer. The others are abandoned. */
const ACCEPT_PERCENT = 50;
const DECLINE_PERCENT = 15;
/** Accepted at every API at the same time, and declined there as well. */
const RUSH_PERCENT = 20;
const RAISE_PERCENT = 60;

/** An address that has e-mails of offers alone. */
export const contactOf = (id: string) => ({
  fullName: nameOf(id),
  emailAddress: `waiting-${id}@example.com`,
});

/** Joins the waiting list of an event. Returns the entry, or none if there is no list yet or nobody knows. */
export async function join(calls: Calls, event: number): Promise<WaitingRecord[]> {
  const { random, apiUrls, events } = calls.options;
  const isKeyed = calls.drawKeyed(event);
  const record: WaitingRecord = {
    id: calls.nextId(),
    event,
    ticketId: events[event]!.listTicketId,
    seats: random.between(1, MOST_SEATS),
    joins: [],
    entries: new Set(),
    states: [],
    confirmations: [],
    leaves: [],
  };
  calls.history.waiting.push(record);
  const { id, ticketId, seats } = record;
  const body = { organizedEventTicketID: ticketId, seats, contact: contactOf(id), partnerReference: id };
  const init = posted(body);
  if (isKeyed) init.headers['idempotency-key'] = id;
  for (const giveUpAt = calls.now() + PERSIST_MS; calls.now() < giveUpAt;) {
    const joining = calls.record('join', event, [{ ticket: ticketId }], { id });
    const answer = await calls.ask(random.between(0, apiUrls.length - 1), joining, LIST, init);
    const end = 'envelope' in answer ? endOf(answer) : answer;
    record.joins.push(end);
    if ('envelope' in answer && labelOf(end) === '00')
      record.entries.add((answer.envelope.responseData as { entry: string }).entry);
    const isFinal = end.kind === 'answered' && !RETRY_CODES.has(end.code);
    if (!isKeyed || (isFinal && !random.chance(REPLAY_PERCENT))) break;
    if (!isFinal) await delay(random.between(BACKOFF_MS.from, BACKOFF_MS.to));
  }
  return record.entries.size > 0 ? [record] : [];
}

/** Reads one of the open entries, and accepts its offer, or declines it, or leaves. Removes an entry that is over. */
export async function tend(calls: Calls, open: WaitingRecord[]): Promise<void> {
  const { random } = calls.options;
  if (open.length === 0) return;
  const [record] = open.splice(random.between(0, open.length - 1), 1) as [WaitingRecord];
  const state = await readState(calls, record);
  if (state === 'offered') await answerOffer(calls, record);
  else if (state === 'waiting' && random.chance(LEAVE_PERCENT)) await change(calls, record, 'leave');
  else if (state === undefined || state === 'waiting') open.push(record);
}

/** Returns the state of an entry, or undefined if it cannot be read now. */
async function readState(calls: Calls, record: WaitingRecord): Promise<string | undefined> {
  const { random, apiUrls } = calls.options;
  const [entry] = record.entries;
  const api = random.between(0, apiUrls.length - 1);
  const reading = calls.record('read', record.event, [{ ticket: record.ticketId }], { id: record.id });
  const answer = await calls.ask(api, reading, `${LIST}/${entry}`, { headers: {} });
  const end = 'envelope' in answer ? endOf(answer) : answer;
  calls.history.lookups.push({ what: `entry ${entry}`, end });
  if (!('envelope' in answer) || labelOf(end) !== '00') return undefined;
  const { state } = answer.envelope.responseData as { state: string };
  record.states.push(state);
  reading.state = state;
  return state;
}

async function answerOffer(calls: Calls, record: WaitingRecord): Promise<void> {
  const { random, apiUrls } = calls.options;
  if (random.chance(RUSH_PERCENT))
    await Promise.all(
      [...apiUrls.keys()].flatMap((api) => [
        change(calls, record, 'confirm', api),
        change(calls, record, 'leave', api),
      ]),
    );
  else if (random.chance(ACCEPT_PERCENT)) await change(calls, record, 'confirm');
  else if (random.chance(DECLINE_PERCENT)) await change(calls, record, 'leave');
}

function change(
  calls: Calls,
  record: WaitingRecord,
  name: 'confirm' | 'leave',
  api?: number,
): Promise<string> {
  const { event, id, ticketId, confirmations, leaves } = record;
  const [entry] = record.entries;
  const common = { change: { name, id, seats: [{ ticket: ticketId, id }] }, event, api };
  return name === 'confirm'
    ? calls.repeat({
        ...common,
        path: `${EVENTS}/holds/${entry}/confirm`,
        lists: [confirmations],
        init: posted({ contact: attendeeOf(id) }),
      })
    : calls.repeat({ ...common, path: `${LIST}/${entry}/leave`, lists: [leaves], init: posted({}) });
}

/** Raises the capacity of some tickets with a waiting list. The worker has to serve the list. */
export async function raiseSome(
  { db }: Deployment,
  events: readonly EventOnSale[],
  random: Random,
  partners: Partners,
): Promise<void> {
  for (const [event, { fixture, listTicketId }] of events.entries()) {
    if (!random.chance(RAISE_PERCENT)) continue;
    const seats = random.between(1, 3);
    const record = partners.record('capacity', event, [{ ticket: listTicketId, n: seats }]);
    await sql`
      update tickets set capacity = capacity + ${seats}::integer
      where shard_id = ${fixture.shardId} and id = ${listTicketId}`.execute(db);
    Object.assign(record, { end: partners.now(), answer: '00' });
  }
}

/** Holds what partners were answered about their entries against what is stored. */
export function checkWaiting(
  records: readonly WaitingRecord[],
  stored: readonly StoredEntry[],
  events: readonly EventOnSale[],
  tolerance: Tolerance,
): Violation[] {
  const rows = Map.groupBy(stored, ({ requestId }) => requestId);
  const known = new Set(records.map(({ id }) => id));
  return [
    ...records.flatMap((record) => checkRecord(record, rows.get(record.id) ?? [], tolerance)),
    ...records
      .filter((record) => !couldReachLimit(record, records, rows, events[record.event]!))
      .map(({ id }): Violation => ({
        kind: 'wrong',
        problem: `waiting entry ${id} was answered 37, though its partner cannot wait for as many seats as the ticket has`,
      })),
    ...records.flatMap((record) => {
      const [row] = rows.get(record.id) ?? [];
      return row ? checkEntry(record, row, events[record.event]!.isTest, tolerance) : [];
    }),
    ...stored
      .filter(({ requestId }) => !known.has(requestId))
      .map(({ reference }): Violation => ({ kind: 'wrong', problem: `nobody asked for entry ${reference}` })),
  ];
}

const codesOf = (ends: readonly AttemptEnd[]) =>
  ends.flatMap((end) => (end.kind === 'answered' ? [end.code] : []));
const mayBe = (ends: readonly AttemptEnd[], tolerance: Tolerance) =>
  isSaid(ends) || ends.some((end) => isUnknown(end, tolerance));

/** Every answer "00" is stored, once. */
function checkRecord(
  { id, joins, entries }: WaitingRecord,
  rows: readonly StoredEntry[],
  tolerance: Tolerance,
): Violation[] {
  const codes = codesOf(joins);
  const [reference] = entries;
  const violations: Problem[] = [
    // 37: see couldReachLimit. 38: not sold out.
    [
      codes.some((code) => !['00', '37', '38'].includes(code) && !RETRY_CODES.has(code)),
      'wrong',
      `was answered ${codes.join()}`,
    ],
    ...failuresOf(joins, tolerance).map(({ kind, problem }): Problem => [true, kind, problem]),
    [
      rows.length > 1 || entries.size > 1,
      'doubled',
      `has ${rows.length} rows and ${entries.size} references`,
    ],
    [entries.size > 0 && rows.length === 0, 'lost', 'was answered 00, and is not stored'],
    [
      rows.length > 0 && reference !== undefined && rows[0]!.reference !== reference,
      'wrong',
      'has another reference',
    ],
    [
      rows.length > 0 && !mayBe(joins, tolerance),
      'wrong',
      'is stored, though every answer said that it is not',
    ],
  ];
  return toViolations(id, violations);
}

/**
 * Whether each answer 37 of an entry can be right: the entries that its partner had joined by then, and this
 * one, want more seats than the ticket had at first. Entries that stopped to wait are counted as well, so
 * this excuses too much rather than too little.
 */
function couldReachLimit(
  { id, event, seats, joins }: WaitingRecord,
  records: readonly WaitingRecord[],
  rows: ReadonlyMap<string, readonly StoredEntry[]>,
  { listCapacity }: EventOnSale,
): boolean {
  return joins
    .filter((end) => labelOf(end) === '37')
    .every(({ during }) => {
      const joined = records.filter(
        (other) =>
          other.id !== id &&
          other.event === event &&
          rows.has(other.id) &&
          other.joins.some((end) => (end.during?.from ?? 0) <= (during?.to ?? Infinity)),
      );
      return joined.reduce((sum, other) => sum + other.seats, seats) > listCapacity;
    });
}

/** The state of an entry is what its partner did with it, and what the partner was told. */
function checkEntry(
  record: WaitingRecord,
  row: StoredEntry,
  isTest: boolean,
  tolerance: Tolerance,
): Violation[] {
  const { confirmations, leaves, states } = record;
  const { state } = row;
  const refused = (ends: readonly AttemptEnd[]) =>
    codesOf(ends).filter((code) => code !== '00' && !RETRY_CODES.has(code));
  const ORDER = ['waiting', 'offered', 'confirmed', 'expired', 'left'];
  const ranks = [...states, state].map((one) => Math.min(ORDER.indexOf(one), 2));
  // A reset of a test event takes entries off the list, and cancels what was confirmed.
  const violations: Problem[] = [
    [row.ticketId !== record.ticketId || row.seats !== record.seats, 'wrong', 'is not what was asked for'],
    [isSaid(confirmations) && state !== 'confirmed', 'lost', `was confirmed, and is ${state}`],
    [isSaid(leaves) && state !== 'left', 'wrong', `has left, and is ${state}`],
    [
      state === 'confirmed' && !mayBe(confirmations, tolerance),
      'wrong',
      'is confirmed, though nobody was told so',
    ],
    [
      state === 'left' && !isTest && !mayBe(leaves, tolerance),
      'wrong',
      'has left, though nobody was told so',
    ],
    [
      ranks.some((rank, index) => rank < (ranks[index - 1] ?? 0)),
      'wrong',
      `was ${states.join(', ')}, and is ${state}`,
    ],
    // Too late: it is over, or a reset has cancelled a seat.
    [
      refused(confirmations).some((code) => code !== '35') ||
        (refused(confirmations).length > 0 && state === 'offered'),
      'wrong',
      `is ${state}, and its confirmation was answered ${refused(confirmations).join()}`,
    ],
    [
      refused(leaves).some((code) => code !== '35') ||
        (refused(leaves).length > 0 && !['confirmed', 'expired'].includes(state)),
      'wrong',
      `is ${state}, and leaving was answered ${refused(leaves).join()}`,
    ],
  ];
  return toViolations(record.id, violations);
}

type Problem = [isWrong: boolean, kind: Violation['kind'], problem: string];

const toViolations = (id: string, problems: Problem[]): Violation[] =>
  problems
    .filter(([isWrong]) => isWrong)
    .map(([, kind, problem]) => ({ kind, problem: `waiting entry ${id} ${problem}` }));

/**
 * Finds registrations that a newcomer got while an entry waited, and what else is wrong with tickets and
 * lists at rest. Serials are drawn under the lock of the ticket: by an entry when it joins, by a newcomer
 * when it gets a seat, and by an offer. So a serial between those of an entry and of its offer was drawn
 * while the entry waited. (Times say less: a transaction that began earlier can get the lock later.)
 */
export async function findNewcomers(
  { db }: Deployment,
  events: readonly EventOnSale[],
): Promise<Violation[]> {
  const problems: string[] = [];
  // Two partners sell an event.
  for (const event of new Map(events.map((one) => [one.fixture.eventId, one])).values()) {
    problems.push(...(await newcomersOf(db, event)));
    problems.push(...(await findProblemsOfLists(db, { ...event, holdSharePercent: 100 })));
  }
  return problems.map((problem) => ({ kind: 'wrong', problem }));
}

async function newcomersOf(db: Deployment['db'], { fixture: { shardId }, listTicketId }: EventOnSale) {
  type Seat = { serial: number; hold: string | null; successor: number | null };
  const { rows: seats } = await sql<Seat>`
    select serial, hold_id as hold, replaced_by as successor from registrations
    where shard_id = ${shardId} and ticket_id = ${listTicketId} order by serial`.execute(db);
  const { rows: entries } = await sql<{ serial: number; id: string }>`
    select serial, id from waiting_entries where shard_id = ${shardId} and ticket_id = ${listTicketId}`.execute(
    db,
  );
  const ids = new Set(entries.map(({ id }) => id));
  const successors = new Set(seats.map(({ successor }) => successor));
  const newcomers = seats.filter(({ serial, hold }) => !ids.has(hold ?? '') && !successors.has(serial));
  return entries.flatMap((entry) => {
    const offered = seats.find(({ hold }) => hold === entry.id)?.serial ?? 0;
    return newcomers
      .filter(({ serial }) => serial > entry.serial && serial < offered)
      .map(({ serial }) => `registration ${serial} got a seat while entry ${entry.serial} waited`);
  });
}

/** How often partners used waiting lists. */
export function countWaiting(
  records: readonly WaitingRecord[],
  stored: readonly StoredEntry[],
): Record<string, number> {
  return {
    'entries of waiting lists': stored.length,
    offers: stored.filter(({ wasOffered }) => wasOffered).length,
    'accepted offers': records.filter(({ confirmations }) => isSaid(confirmations)).length,
  };
}
