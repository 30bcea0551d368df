import { perform } from '@floodgate/audit';
import { grantEvent } from '@floodgate/events';
import { moveEventAction } from '@floodgate/events/actions';
import { createPartner, issueKey } from '@floodgate/partners';
import { reconcile } from '@floodgate/registrations';
import { allocateTicketAction, updateTicketAction } from '@floodgate/tickets/actions';
import { listAllocations } from '@floodgate/tickets/allocations';
import { randomInt, randomUUID } from 'node:crypto';
import { afterAll, expect } from 'vitest';
import { apiTest } from '../harness/api-test.ts';
import { expectFailure } from '../harness/expect-failure.ts';
import { startInProcessApi } from '../harness/in-process-api.ts';
import { attendee, PartnerClient, type Answer } from '../harness/partner-client.ts';
import { tablesOf } from '../harness/stored-tables.ts';

const { test, given } = apiTest({ own: 'compares the books of its database' });

test.override('ticket', { capacity: 10 });

afterAll(async () => {
  expect(await reconcile(given.database.db)).toEqual([]);
});

interface Seller {
  partnerId: number;
  client: PartnerClient;
}

/** Another partner that may sell the event. */
async function openToAnother(baseUrl = given.api.baseUrl): Promise<Seller> {
  const { id: partnerId } = await createPartner(given.database.db, `partner ${randomUUID()}`);
  await grantEvent(given.database.db, partnerId, given.gala.eventId);
  const { secretKey } = await issueKey(given.database.db, partnerId, null);
  return { partnerId, client: new PartnerClient(baseUrl, { secretKey, eventRef: given.gala.eventRef }) };
}

const allocate = (partnerId: number, settings: object) =>
  perform(
    given.database.db,
    allocateTicketAction,
    { ticketId: given.ticketId, partnerId, ...settings },
    'test',
  );

const codeOf = ({ body }: Answer) => body.responseCode;
const sell = (client: PartnerClient, headers: Record<string, string> = {}) =>
  client.register(attendee(given.ticketId), headers);

/** Sells until it is refused, and returns the pass references and the refusal. */
async function sellOut(client: PartnerClient) {
  const passes: string[] = [];
  for (;;) {
    const answer = await sell(client);
    if (codeOf(answer) !== '00') return { passes, refusal: answer };
    passes.push(String(answer.body.responseData));
  }
}

const countFor = async (client: PartnerClient) => {
  const tickets = (await client.tickets()).body.responseData as { id: number; count: number }[];
  return tickets.find(({ id }) => id === given.ticketId)?.count ?? 0;
};

test('reserved seats are for one partner; when it has sold them, it sells the others like everybody', async () => {
  const other = await openToAnother();
  await allocate(other.partnerId, { reserved: 4 });
  expect([await countFor(given.partner), await countFor(other.client)]).toEqual([6, 10]);
  const mine = await sellOut(given.partner);
  expect(mine.passes).toHaveLength(6);
  expectFailure(mine.refusal, '32', 409);
  const theirs = await sellOut(other.client);
  expect(theirs.passes).toHaveLength(4);
  // A cancelled seat is reserved again.
  await other.client.cancel(theirs.passes[0]!);
  expect(codeOf(await sell(given.partner))).toBe('32');
  expect(codeOf(await sell(other.client))).toBe('00');
  await given.partner.cancel(mine.passes[0]!);
  expect(codeOf(await sell(other.client))).toBe('00');
  expect(await listAllocations(given.database.db, given.gala.shardId, [given.ticketId])).toMatchObject([
    { reserved: 4, taken: 5, unsold: 0 },
  ]);
});

test('a cap limits a partner, also on seats that are free; the answer says so', async () => {
  await allocate(given.gala.partnerId, { cap: 2 });
  expect(await countFor(given.partner)).toBe(2);
  const { passes, refusal } = await sellOut(given.partner);
  expect(passes).toHaveLength(2);
  expectFailure(refusal, '32', 409);
  const message = 'You have sold all seats that you may sell of this ticket';
  expect(refusal.body.responseMessage).toBe(message);
  const held = await given.partner.post('/holds', {
    tickets: [{ organizedEventTicketID: given.ticketId, seats: 1 }],
  });
  expect(held.body.responseMessage).toBe(`tickets[0]: ${message}`);
  expect(codeOf(await sell((await openToAnother()).client))).toBe('00');
});

test('after the release time, everybody sells what is left of the reserved seats', async () => {
  const other = await openToAnother();
  await allocate(other.partnerId, { reserved: 10, releasesAt: new Date(Date.now() + 3_600_000) });
  expect(codeOf(await sell(other.client))).toBe('00');
  expect(codeOf(await sell(given.partner))).toBe('32');
  await tablesOf(given.database.db)
    .updateTable('allocations')
    .set({ releases_at: new Date(Date.now() - 1_000) })
    .where('ticket_id', '=', given.ticketId)
    .execute();
  expect((await sellOut(given.partner)).passes).toHaveLength(9);
});

test('a partner can hold all seats that are reserved for it, others only their share', async () => {
  const other = await openToAnother();
  await allocate(other.partnerId, { reserved: 5 });
  const hold = (seats: number, client: PartnerClient) =>
    client.post('/holds', { tickets: [{ organizedEventTicketID: given.ticketId, seats }] });
  expect(codeOf(await hold(5, given.partner))).toBe('37');
  expect(codeOf(await hold(4, given.partner))).toBe('00');
  expect(codeOf(await hold(6, other.client))).toBe('37');
  expect(codeOf(await hold(5, other.client))).toBe('00');
  // Released: the rule for everybody applies.
  await tablesOf(given.database.db)
    .updateTable('allocations')
    .set({ releases_at: new Date(Date.now() - 1_000) })
    .where('ticket_id', '=', given.ticketId)
    .execute();
  expect(codeOf(await hold(1, other.client))).toBe('37');
  expect(await listAllocations(given.database.db, given.gala.shardId, [given.ticketId])).toMatchObject([
    { taken: 5 },
  ]);
});

test('what is sold already counts; more than is left is not reserved, and the capacity does not go below', async () => {
  for (let sold = 0; sold < 3; sold += 1) expect(codeOf(await sell(given.partner))).toBe('00');
  await expect(allocate(given.gala.partnerId, { reserved: 11 })).rejects.toThrow(
    '8 seats would be reserved, but only 7 are left',
  );
  await expect(allocate(given.gala.partnerId, { reserved: 2, cap: 1 })).rejects.toThrow(
    'cap: at least the number of reserved seats',
  );
  await expect(allocate(2_000_000_000, { reserved: 1 })).rejects.toThrow('is not open to partner');
  await expect(allocate(given.gala.partnerId, { cap: 1, releasesAt: new Date() })).rejects.toThrow(
    'releasesAt: only with reserved seats',
  );
  expect(await allocate(given.gala.partnerId, { reserved: 10 })).toMatchObject([{ taken: 3, unsold: 7 }]);
  const shrink = (capacity: number) =>
    perform(given.database.db, updateTicketAction, { ticketId: given.ticketId, capacity }, 'test');
  await expect(shrink(9)).rejects.toThrow(
    'the capacity cannot be less than 10: 3 seats are taken, and 7 more are reserved',
  );
  await shrink(11);
  expect(await allocate(given.gala.partnerId, {})).toEqual([]);
  expect(codeOf(await sell((await openToAnother()).client))).toBe('00');
  await expect(shrink(3)).rejects.toThrow(
    'the capacity cannot be less than 4, the number of seats that are taken already',
  );
  await shrink(9);
});

test('an event with an allocation stays in its shard', async () => {
  await allocate(given.gala.partnerId, { reserved: 1 });
  const shardId = given.gala.shardId + 1;
  await tablesOf(given.database.db)
    .insertInto('shards')
    .values({ id: shardId })
    .onConflict((on) => on.doNothing())
    .execute();
  await expect(
    perform(given.database.db, moveEventAction, { eventId: given.gala.eventId, shardId }, 'test'),
  ).rejects.toThrow('the event has allocations, so it stays in its shard');
  await allocate(given.gala.partnerId, {});
});

test('three partners sell, hold and cancel at two APIs at once: no allocation is broken, and the ticket sells out exactly', async () => {
  const second = await startInProcessApi({ DATABASE_URL: given.database.url });
  try {
    await perform(given.database.db, updateTicketAction, { ticketId: given.ticketId, capacity: 60 }, 'test');
    const sellers = await Promise.all(
      [given.api, second, second].map(({ baseUrl }) => openToAnother(baseUrl)),
    );
    const settings = [{ reserved: 20 }, { reserved: 10, cap: 15 }, {}];
    for (const [index, { partnerId }] of sellers.entries()) await allocate(partnerId, settings[index]!);
    const counts = await Promise.all(
      sellers.flatMap(({ client }) =>
        Array.from({ length: 4 }, async () => {
          const passes: string[] = [];
          for (let call = 0; call < 40; call += 1) {
            if (passes.length > 0 && randomInt(3) === 0) {
              const [pass] = passes.splice(randomInt(passes.length), 1);
              expect(codeOf(await client.cancel(pass!))).toBe('00');
              continue;
            }
            const answer = await sell(client, randomInt(4) === 0 ? { 'hold-for': '600' } : {});
            if (codeOf(answer) === '00') passes.push(String(answer.body.responseData));
            else expect(['32', '37']).toContain(codeOf(answer));
            if (call % 10 === 0) expect(await reconcile(given.database.db)).toEqual([]);
          }
          return passes.length;
        }),
      ),
    );
    expect(counts.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(60);
    expect(await reconcile(given.database.db)).toEqual([]);
    for (const { client } of sellers) await sellOut(client);
    const ticket = tablesOf(given.database.db)
      .selectFrom('tickets')
      .select('taken')
      .where('id', '=', given.ticketId);
    expect(await ticket.execute()).toEqual([{ taken: 60 }]);
    const [first, limited] = await listAllocations(given.database.db, given.gala.shardId, [given.ticketId]);
    expect(first!.taken).toBeGreaterThanOrEqual(20);
    expect(limited!.taken).toBeLessThanOrEqual(15);
    expect(limited!.taken).toBeGreaterThanOrEqual(10);
  } finally {
    await second.close();
  }
});
