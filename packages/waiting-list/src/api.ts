import { Type } from '@sinclair/typebox';
import {
  answersOf,
  COMMON_FAILURES,
  RegisterHeaders,
  success,
  WaitingEntry,
  WaitingPath,
  WaitingRequest,
  type FailureCode,
} from '@floodgate/contract';
import { isCluster, statementFailure, type Database } from '@floodgate/database';
import { defineApi, type ApiContext, type Routes } from '@floodgate/http';
import { createGroups, provokedCode, refusalOf } from '@floodgate/registrations/api';
import {
  entryOf,
  findEntry,
  joinWaitingLists,
  leaveWaitingList,
  toJoin,
  type Join,
  type Joined,
} from './waiting-list.ts';

/** A call waits for a lock of the ticket at most for this share of the answer time. */
const LOCK_SHARE = 1 / 4;
const STATEMENT_SHARE = 2 / 3;
const CONNECTIONS = 8;
/** Entries in one commit, and entries that may wait for one. */
const [GROUP_LIMIT, WAITING_LIMIT] = [500, 10_000];

const NO_ENTRY = { message: 'No such entry of a waiting list' };
const SHARED = { tags: ['Waiting list'], response: answersOf(WaitingEntry) };
const OF_ENTRY = { ...SHARED, params: WaitingPath };

/** The code and message of each outcome without an entry. */
const REFUSALS: Record<Exclude<Joined['outcome'], 'joined'>, [FailureCode, object]> = {
  'no-such-ticket': ['30', {}],
  'not-on-sale': ['31', {}],
  'not-sold-out': ['38', {}],
  'no-list': ['39', {}],
  'key-reused': ['40', {}],
  'too-many': [
    '11',
    { message: 'seats: not more than the ticket has', invalidFields: [{ field: 'seats', rule: 'maximum' }] },
  ],
};
const JOIN_FAILURES: FailureCode[] = [...COMMON_FAILURES, '11', '30', '31', '38', '39', '40', '91'];

/** The operations of partners on waiting lists. */
export const waitingListApi = defineApi({
  async open(context) {
    const { answerWithinMs, log, clock } = context;
    // Separate from the reservations, which must not wait for those who wait.
    const db = context.openPool({
      purpose: 'waiting list',
      maxConnections: CONNECTIONS,
      statementTimeoutMs: Math.round(answerWithinMs * STATEMENT_SHARE),
    });
    const lockWithinMs = Math.round(answerWithinMs * LOCK_SHARE);
    const limits = { groupLimit: GROUP_LIMIT, waitingLimit: WAITING_LIMIT, answerWithinMs };
    // The worker finds the changes.
    const options = { ...limits, log, clock, isCluster: await isCluster(db), onCommitted: () => {} };
    const groups = createGroups<Join, Joined>(options, (shardId, joins) =>
      joinWaitingLists(db, shardId, joins, lockWithinMs),
    );
    return {
      routes(api) {
        addJoinRoute(api, context, groups);
        addEntryRoutes(api, context, db, lockWithinMs);
      },
      close: async () => void (await groups.drain()),
    };
  },
});

/** POST /events/waiting-list: joins the waiting list of a ticket that is sold out. */
function addJoinRoute(
  api: Routes,
  { reads }: ApiContext,
  groups: ReturnType<typeof createGroups<Join, Joined>>,
) {
  api.post(
    '/events/waiting-list',
    {
      schema: {
        ...SHARED,
        operationId: 'joinWaitingList',
        summary: 'Join Waiting List',
        description:
          'Puts a contact on the waiting list of a ticket that is sold out. Freed seats go to the oldest entry that they can serve ' +
          'completely, as a hold whose reference is the entry: call Confirm Hold before the offer expires. With an Idempotency-Key, a ' +
          'repeated call makes no second entry.',
        headers: Type.Pick(RegisterHeaders, ['idempotency-key']),
        answerHeader: 'Idempotent-Replayed',
        failures: JOIN_FAILURES,
        body: WaitingRequest,
      },
      onRequest: groups.refuseWhenFull,
    },
    async (request, reply) => {
      const { principal, body, headers } = request;
      const provoked = provokedCode(principal, body.contact, JOIN_FAILURES);
      if (provoked && provoked !== '91') return reply.fail(provoked);
      const join = toJoin(principal, body, headers['idempotency-key'] ?? null);
      const joined = await groups.submit(request, join);
      if (typeof joined === 'string') return groups.refuse(request, reply, ...refusalOf(joined, {}));
      if (joined.outcome !== 'joined') return reply.fail(...REFUSALS[joined.outcome]);
      const isRepeat = joined.id !== join.id;
      const found = await entryOf(reads, principal, join, joined);
      // It has joined all the same.
      if (!found || (provoked === '91' && !isRepeat)) return reply.fail('91');
      if (isRepeat) void reply.header('idempotent-replayed', 'true');
      return success(found);
    },
  );
}

/** GET /events/waiting-list/{entry}: the state of an entry. POST …/leave: leaves the list, or declines the offer. */
function addEntryRoutes(api: Routes, { reads, shardReads }: ApiContext, db: Database, lockWithinMs: number) {
  api.get(
    '/events/waiting-list/:entry',
    {
      schema: {
        ...OF_ENTRY,
        operationId: 'getWaitingEntry',
        summary: 'Get Waiting Entry',
        description:
          'Returns the state of an entry that the same partner made under this event, and its place.',
        failures: [...COMMON_FAILURES, '11', '34'],
      },
    },
    async ({ principal, params }, reply) => {
      const found = await shardReads(principal.shardId, () => findEntry(reads, principal, params.entry));
      return found ? success(found) : reply.fail('34', NO_ENTRY);
    },
  );
  api.post(
    '/events/waiting-list/:entry/leave',
    {
      schema: {
        ...OF_ENTRY,
        operationId: 'leaveWaitingList',
        summary: 'Leave Waiting List',
        description:
          'Takes an entry off the list. If it has an offer, its seats go to the next entry at once. Safe to repeat. After the offer was ' +
          'confirmed or has expired, the answer is 35.',
        failures: [...COMMON_FAILURES, '11', '34', '35', '91'],
      },
    },
    async ({ principal, params: { entry } }, reply) => {
      const left = await leaveWaitingList(db, principal, entry, lockWithinMs).catch(unlessUnknown);
      if (left === null) return reply.fail('91');
      const found = await findEntry(db, principal, entry);
      if (!found) return reply.fail('34', NO_ENTRY);
      return found.state === 'left'
        ? success(found)
        : reply.fail('35', { message: `The entry is ${found.state}` });
    },
  );
}

/** Returns null if the statement may have committed. */
function unlessUnknown(error: unknown): null {
  if (['unknown', 'unavailable'].includes(statementFailure(error))) return null;
  throw error;
}
