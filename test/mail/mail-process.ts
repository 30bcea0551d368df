import { randomUUID } from 'node:crypto';
import type { Database, DeliveryState } from '@floodgate/database';
import { perform } from '@floodgate/audit';
import { enableMailAction } from '@floodgate/mail/actions';
import { reserveBatch } from '@floodgate/registrations';
import { onTestFinished } from 'vitest';
import type { TestDatabase } from '../harness/database.ts';
import type { Fixture } from '../harness/fixture.ts';
import { finalizePending } from '../harness/journal.ts';
import { keepPrivate } from '../harness/private-data.ts';
import { reservationOf } from '../harness/reservation.ts';
import { startInProcessDelivery } from '../harness/in-process-delivery.ts';
import { startDeliveryProcess, type Environment } from '../harness/service-process.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { tablesOf } from '../harness/stored-tables.ts';

/** Registers and confirms an attendee for each of these addresses. */
export async function confirm(
  db: Database,
  fixture: Fixture,
  ticketId: number,
  addresses: readonly string[],
  fullName = 'Jörg <b>Müller</b>',
): Promise<void> {
  keepPrivate([...addresses, fullName]);
  const reservations = addresses.map((emailAddress) =>
    reservationOf(fixture, ticketId, { emailAddress, fullName }),
  );
  await reserveBatch(db, randomUUID(), reservations);
  await finalizePending(db, fixture.shardId);
}

/** So many addresses of which no two are alike. */
export const addresses = (count: number, name = 'guest') =>
  Array.from({ length: count }, (_, index) => `${name}-${index}@mail.floodgate-tests.org`);

/** Switches the e-mails of an event on, as an operator does. */
export const enable = (db: Database, { eventId }: Fixture, fromNow = false) =>
  perform(db, enableMailAction, { eventId, fromNow }, 'test');

const withDefaults = (database: TestDatabase, env: Environment) => ({
  DATABASE_URL: database.url,
  DELIVERIES: 'mail',
  MAIL_FROM: 'The Gala <gala@floodgate-tests.org>',
  ...env,
});

/** Starts to send e-mails, in the test's own process. It ends with the test. */
export async function startMails(database: TestDatabase, env: Environment) {
  const delivery = await startInProcessDelivery(withDefaults(database, env));
  onTestFinished(() => delivery.end());
  return delivery;
}

/** Starts a delivery process that sends e-mails, and that a test can kill. It ends with the test. */
export async function startMailProcess(database: TestDatabase, env: Environment) {
  const process = await startDeliveryProcess(withDefaults(database, env));
  onTestFinished(async () => void (await process.end('SIGTERM')));
  return process;
}

/** Deliveries of confirmations of an event, by serial. */
export async function deliveriesOf(db: Database, { shardId, eventId }: Fixture, kind = 'confirmation') {
  const rows = await tablesOf(db)
    .selectFrom('deliveries')
    .select(['subject', 'state', 'reason', 'attempts', 'possibly_twice as possiblyTwice', 'revision'])
    .where('shard_id', '=', shardId)
    .where('event_id', '=', eventId)
    .where('kind', '=', kind)
    .execute();
  return rows
    .map(({ subject, ...row }) => ({ serial: Number(subject), ...row }))
    .toSorted((a, b) => a.serial - b.serial);
}

/** Makes deliveries that wait for their next attempt due, now or at another time. Resolves to how many there were. */
export const makeDue = (db: Database, state: 'retry' | 'queued' = 'retry', at = new Date(0)) =>
  tablesOf(db).updateTable('deliveries').set({ due_at: at }).where('state', '=', state).execute();

/** Waits until so many e-mails of an event have come to this. */
export async function waitForState(db: Database, fixture: Fixture, state: DeliveryState, count: number) {
  return waitUntil(`${count} e-mails are ${state}`, async () => {
    const all = (await deliveriesOf(db, fixture)).filter((one) => one.state === state);
    return all.length >= count && all;
  });
}
