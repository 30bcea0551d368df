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
import { isCluster, shardLoader } from '@floodgate/database';
import { defineApi, type Routes } from '@floodgate/http';
import {
  createGroups,
  holdShareSettings,
  inSeparateRounds,
  provokedCode,
  refusalOf,
  type Groups,
} from '@floodgate/registrations';
import {
  entryOf,
  findEntries,
  joinWaitingLists,
  leaveWaitingList,
  toJoin,
  type EntryQuery,
  type FindEntry,
  type Join,
  type Joined,
} from './waiting-list.ts';

/** A call waits for a lock of the ticket at most for this share of the answer time. */
const LOCK_SHARE = 1 / 4;
const STATEMENT_SHARE = 2 / 3;
const CONNECTIONS = 8;
/** Entries in one commit. */
const GROUP_LIMIT = 500;
/** Calls that may wait for a commit. */
const WAITING_LIMIT = 10_000;

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
  'list-limit': ['37', { message: 'Your entries wait for as many seats as the ticket has' }],
  'too-many': [
    '11',
    { message: 'seats: not more than the ticket has', invalidFields: [{ field: 'seats', rule: 'maximum' }] },
  ],
};
const JOIN_FAILURES: FailureCode[] = [...COMMON_FAILURES, '11', '30', '31', '37', '38', '39', '40', '91'];

type JoinGroups = Groups<Join, Joined>;
type LeaveGroups = Groups<EntryQuery, boolean>;

/** The operations of partners on waiting lists. */
export const waitingListApi = defineApi({
  settings: holdShareSettings,
  async open(context, { HOLD_SHARE_PERCENT: sharePercent }) {
    const { answerWithinMs, log, clock, reads, shardReads } = context;
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
    const joins: JoinGroups = createGroups(options, (shardId, calls) =>
      joinWaitingLists(db, shardId, calls, lockWithinMs, sharePercent),
    );
    // Each in a transaction of its own: two could lock their tickets in different orders.
    const separately = { ...options, roundsOf: inSeparateRounds<EntryQuery> };
    const leaves: LeaveGroups = createGroups(separately, async (_shardId, [leave]) => [
      await leaveWaitingList(db, leave!, leave!.entry, lockWithinMs, sharePercent),
    ]);
    const find = shardLoader(shardReads, (queries: EntryQuery[]) => findEntries(reads, queries));
    return {
      routes(api) {
        addJoinRoute(api, joins, find);
        addReadRoute(api, find);
        addLeaveRoute(api, leaves, find);
      },
      close: async () => void (await Promise.all([joins.drain(), leaves.drain()])),
    };
  },
});

/** POST /events/waiting-list: joins the waiting list of a ticket that is sold out. */
function addJoinRoute(api: Routes, groups: JoinGroups, find: FindEntry) {
  api.post(
    '/events/waiting-list',
    {
      schema: {
        ...SHARED,
        operationId: 'joinWaitingList',
        summary: 'Join Waiting List',
        description:
          'Puts a contact on the waiting list of a ticket that is sold out. Freed seats go to the oldest ' +
          'entry that they can serve completely, as a hold whose reference is the entry: call Confirm Hold ' +
          'before the offer expires. Offers count for your share of the ticket: while you hold your share, ' +
          'your entries keep their places and later entries of others are served. With an Idempotency-Key, a ' +
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
      if (typeof joined === 'string') return groups.refuse(request, reply, ...refusalOf(principal, joined));
      if (joined.outcome !== 'joined') return reply.fail(...REFUSALS[joined.outcome]);
      const isRepeat = joined.id !== join.id;
      const found = await entryOf(find, principal, join, joined);
      // It has joined all the same.
      if (!found || (provoked === '91' && !isRepeat)) return reply.fail('91');
      if (isRepeat) void reply.header('idempotent-replayed', 'true');
      return success(found);
    },
  );
}

/** GET /events/waiting-list/{entry}: the state of an entry. */
function addReadRoute(api: Routes, find: FindEntry) {
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
    async ({ principal, params: { entry } }, reply) => {
      const found = await find({ ...principal, entry });
      return found ? success(found) : reply.fail('34', NO_ENTRY);
    },
  );
}

/** POST /events/waiting-list/{entry}/leave: leaves the list, or declines the offer. */
function addLeaveRoute(api: Routes, groups: LeaveGroups, find: FindEntry) {
  api.post(
    '/events/waiting-list/:entry/leave',
    {
      schema: {
        ...OF_ENTRY,
        operationId: 'leaveWaitingList',
        summary: 'Leave Waiting List',
        description:
          'Takes an entry off the list. If it has an offer, its seats go to the next entry at once. Safe to ' +
          'repeat. After the offer was confirmed or has expired, the answer is 35.',
        failures: [...COMMON_FAILURES, '11', '34', '35', '91'],
      },
      onRequest: groups.refuseWhenFull,
    },
    async (request, reply) => {
      const { principal, params } = request;
      const query = { ...principal, entry: params.entry };
      const before = await find(query);
      if (!before) return reply.fail('34', NO_ENTRY);
      const isOpen = before.state === 'waiting' || before.state === 'offered';
      const outcome = isOpen && (await groups.submit(request, query));
      if (typeof outcome === 'string') return groups.refuse(request, reply, ...refusalOf(principal, outcome));
      // It may have left all the same.
      const after = isOpen ? await find(query).catch(() => undefined) : before;
      if (!after) return groups.refuse(request, reply, '91');
      if (after.state === 'left') return success(after);
      return reply.fail('35', { message: `The entry is ${after.state}` });
    },
  );
}
