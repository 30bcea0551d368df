import { randomUUID } from 'node:crypto';
import { perform } from '@floodgate/audit';
import { formatPassReference } from '@floodgate/contract';
import { updateEventAction } from '@floodgate/events/actions';
import { grantEvent } from '@floodgate/events';
import { createPartner } from '@floodgate/partners';
import { cancelRegistrationAction, replaceAttendeeAction } from '@floodgate/registrations/actions';
import { reserveBatch } from '@floodgate/registrations';
import { reportOperations, type SettlementRow } from '@floodgate/reports/console';
import { updateTicketAction } from '@floodgate/tickets/actions';
import { sql } from 'kysely';
import { COMMAND_LINE } from '@floodgate/operators';
import { expect } from 'vitest';
import { eventTest } from '../harness/event-test.ts';
import { reservationOf } from '../harness/reservation.ts';

const { test, given } = eventTest();

/** A sale that the test has made: what the list of changes of a partner and the operator's own book would say. */
interface Entry {
  partnerId: number;
  ticketId: number;
  cents: number;
  isCancelled: boolean;
}

async function passReferenceOf(serial: number) {
  const { shardId, eventId, passPrefix: prefix } = given.gala;
  const { rows } = await sql<{ passCode: number }>`
    select pass_code as "passCode" from registrations
    where shard_id = ${shardId} and serial = ${serial}`.execute(given.db);
  return formatPassReference({ prefix, eventId, serial, passCode: rows[0]!.passCode });
}

async function sell(partnerId: number, ticketId: number) {
  const reservation = reservationOf({ ...given.gala, partnerId }, ticketId);
  const [outcome] = await reserveBatch(given.db, randomUUID(), [reservation]);
  if (outcome?.kind !== 'registered') throw new Error(`the seat is ${outcome?.kind}`);
  return passReferenceOf(outcome.serial);
}

const cancel = (passReference: string) =>
  perform(given.db, cancelRegistrationAction, { passReference }, 'test');

const readReport = async (period: { from?: Date; until?: Date } = {}) => {
  const answer = await reportOperations.reportSettlement(
    given.db,
    {
      eventId: given.gala.eventId,
      ...period,
    },
    COMMAND_LINE,
  );
  if (answer instanceof Response) throw new Error('a document was asked for');
  return answer.rows;
};

/** The rows that follow from the entries, with amounts in cents. */
function expectedRows(entries: readonly Entry[]) {
  const groups = Map.groupBy(
    entries,
    ({ partnerId, ticketId, cents }) => `${partnerId} ${ticketId} ${cents}`,
  );
  return [...groups].map(([key, all]) => {
    const cancelled = all.filter(({ isCancelled }) => isCancelled).length;
    return `${key}: ${all.length} − ${cancelled} = ${(all.length - cancelled) * all[0]!.cents}`;
  });
}

const textOf = ({ partnerId, ticketId, price, sold, cancelled, netAmount }: SettlementRow) =>
  `${partnerId} ${ticketId} ${Math.round(price * 100)}: ${sold} − ${cancelled} = ${Math.round(netAmount * 100)}`;

test('what each partner sold and cancelled, at the price of the sale, adds up', async () => {
  const { db, gala } = given;
  await perform(db, updateEventAction, { eventId: gala.eventId, currency: 'EUR' }, 'test');
  const other = await createPartner(db, `partner ${randomUUID()}`);
  await grantEvent(db, other.id, gala.eventId);
  const tickets = [await gala.addTicket({ price: 0.1 }), await gala.addTicket({ price: 19.99 })];
  const entries: Entry[] = [];
  for (const cents of [10, 30, 1_999, 2_001]) {
    for (const ticketId of tickets) {
      await perform(db, updateTicketAction, { ticketId, price: cents / 100 }, 'test');
      for (const partnerId of [gala.partnerId, other.id, gala.partnerId]) {
        let passReference = await sell(partnerId, ticketId);
        const isReplaced = entries.length % 4 === 0;
        const isCancelled = entries.length % 3 === 0;
        if (isReplaced) {
          // At another price of the ticket: the seat keeps that of its sale.
          await perform(db, updateTicketAction, { ticketId, price: 77 }, 'test');
          const someone = { fullName: 'Eve Later', emailAddress: 'eve@example.com' };
          ({ passReference } = await perform(
            db,
            replaceAttendeeAction,
            { passReference, ...someone },
            'test',
          ));
          await perform(db, updateTicketAction, { ticketId, price: cents / 100 }, 'test');
        }
        if (isCancelled) await cancel(passReference);
        entries.push({ partnerId, ticketId, cents, isCancelled });
      }
    }
  }
  const rows = await readReport();
  expect(rows.map(textOf).toSorted()).toEqual(expectedRows(entries).toSorted());
  expect(new Set(rows.map(({ currency }) => currency))).toEqual(new Set(['EUR']));
});

test('periods that follow each other add up: a cancellation counts when it happened', async () => {
  const { db, gala } = given;
  const ticketId = await gala.addTicket({ price: 12.5 });
  await cancel(await sell(gala.partnerId, ticketId));
  const [october, november] = [new Date('2026-10-31T12:00:00Z'), new Date('2026-11-02T12:00:00Z')];
  const border = new Date('2026-11-01T00:00:00Z');
  await sql`
    update registrations set reserved_at = ${october}, cancelled_at = ${november}
    where shard_id = ${gala.shardId} and ticket_id = ${ticketId}`.execute(db);
  expect(await readReport({ until: border })).toMatchObject([{ sold: 1, cancelled: 0, netAmount: 12.5 }]);
  expect(await readReport({ from: border })).toMatchObject([{ sold: 0, cancelled: 1, netAmount: -12.5 }]);
  expect(await readReport()).toMatchObject([{ sold: 1, cancelled: 1, netAmount: 0 }]);
});

test('amounts in a file with semicolons have a decimal comma', async () => {
  const { db, gala } = given;
  await sell(gala.partnerId, await gala.addTicket({ price: 12.5 }));
  const file = await reportOperations.reportSettlement(
    db,
    {
      eventId: gala.eventId,
      format: 'csv',
      separator: 'semicolon',
    },
    COMMAND_LINE,
  );
  if (!(file instanceof Response)) throw new Error('a file was asked for');
  expect((await file.text()).split('\r\n')[1]).toMatch(/;12,5;1;0;12,5;0;12,5$/);
});
