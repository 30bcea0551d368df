import { randomUUID } from 'node:crypto';
import { perform } from '@floodgate/audit';
import { migrate } from '@floodgate/database';
import { changeRegistrations, reconcile, reserveBatch } from '@floodgate/registrations';
import { pricesOf } from '@floodgate/registrations/price';
import { updateTicketAction } from '@floodgate/tickets/actions';
import { sql } from 'kysely';
import { expect } from 'vitest';
import { eventTest } from '../harness/event-test.ts';
import { reservationOf } from '../harness/reservation.ts';

const { test, given } = eventTest({ own: 'changes the schema, the roles or the settings of its database' });

test.override('ticket', { capacity: 10, price: 12.5 });

async function sell(ticketId: number, holdSeconds: number | null = null) {
  const reservation = reservationOf(given.gala, ticketId, { holdSeconds });
  const [outcome] = await reserveBatch(given.db, randomUUID(), [reservation]);
  if (outcome?.kind !== 'registered') throw new Error('no seat');
  return outcome;
}

test('a database with sales gets the present prices for all of them, held and cancelled ones included', async () => {
  const other = await given.gala.addTicket({ price: 7 });
  // As in a database of the release before.
  await sql`drop table ticket_prices`.execute(given.db);
  await sql`alter table events drop column currency`.execute(given.db);
  await sql`delete from schema_files where name = '0016-money'`.execute(given.db);
  const sold = [await sell(given.ticketId), await sell(given.ticketId, 600), await sell(other)];
  const named = { ...given.gala, ...sold[0]! };
  await changeRegistrations(given.db, given.gala.shardId, 'cancelled', [named]);

  expect(await migrate(given.db)).toEqual(['0016-money']);
  await perform(given.db, updateTicketAction, { ticketId: given.ticketId, price: 15 }, 'test');
  sold.push(await sell(given.ticketId));
  const { rows } = await sql<{ serial: number; price: number }>`
    select * from ${pricesOf(given.gala)} priced order by serial`.execute(given.db);
  expect(rows).toEqual(sold.map(({ serial }, index) => ({ serial, price: [12.5, 12.5, 7, 15][index] })));
  expect(await reconcile(given.db)).toEqual([]);
});
