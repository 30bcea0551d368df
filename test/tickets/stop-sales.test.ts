import { randomUUID } from 'node:crypto';
import { changeRegistrations, expireHolds, reserveBatch } from '@floodgate/registrations';
import { expect } from 'vitest';
import { eventTest } from '../harness/event-test.ts';
import { reservationOf } from '../harness/reservation.ts';
import { runCli } from '../harness/service-process.ts';
import { readSale } from '@floodgate/tickets';

const { test, given } = eventTest({ own: 'counts the holds that end in the whole shard' });

const floodgate = (...args: string[]) => runCli({ DATABASE_URL: given.database.url }, ...args);
const onSale = async () =>
  (await readSale(given.db, given.gala.eventId, given.gala.shardId)).map(({ id }) => id);
const listed = async (...options: string[]) =>
  (JSON.parse((await floodgate('event', 'list', '--json', ...options)).output) as { id: number }[]).map(
    ({ id }) => id,
  );

test('all tickets of an event go off sale, and only those come back', async () => {
  const [first, second, never] = [
    await given.gala.addTicket(),
    await given.gala.addTicket(),
    await given.gala.addTicket({ active: false }),
  ];
  const stopped = await floodgate('ticket', 'stop-all', `${given.gala.eventId}`);
  expect(stopped.output).toContain(`off sale: ticket ${first}, ticket ${second}`);
  expect(await onSale()).toEqual([]);
  // An operator puts one on sale before the others.
  await floodgate('ticket', 'update', `${second}`, '--active');
  expect((await floodgate('ticket', 'stop-all', `${given.gala.eventId}`)).output).toContain(
    `off sale: ticket ${second}`,
  );
  const resumed = await floodgate('ticket', 'resume-all', `${given.gala.eventId}`);
  expect(resumed.output).toContain(`on sale: ticket ${first}, ticket ${second}`);
  expect(await onSale()).toEqual([first, second]);
  expect(await onSale()).not.toContain(never);
  expect((await floodgate('ticket', 'resume-all', `${given.gala.eventId}`)).output).toContain(
    'no ticket has changed',
  );
});

test('a stop can end baskets and offers, too; otherwise they can still be confirmed', async () => {
  const [first, second] = [await given.gala.addTicket(), await given.gala.addTicket()];
  const held = (ticketId: number) => reservationOf(given.gala, ticketId, { holdSeconds: 600 });
  const reserve = async (ticketId: number) =>
    (await reserveBatch(given.db, randomUUID(), [held(ticketId)])) as unknown as Seat[];
  const confirm = async (seats: Seat[]) =>
    changeRegistrations(
      given.db,
      given.gala.shardId,
      'confirmed',
      seats.map((seat) => ({ ...given.gala, ...seat })),
    );
  const [kept, one, another, late] = [
    await reserve(first),
    await reserve(first),
    await reserve(second),
    await reserve(first),
  ];
  await confirm(kept);
  await floodgate('ticket', 'stop-all', `${given.gala.eventId}`);
  expect(await confirm(one)).toEqual(['confirmed']);
  // Tickets that are off sale already are included.
  const stopped = await floodgate('ticket', 'stop-all', `${given.gala.eventId}`, '--with-holds');
  expect(stopped.output).toContain('held seats that are released: 2');
  expect(await confirm([...another, ...late])).toEqual(['too-late', 'too-late']);
  expect(await confirm([...kept, ...one])).toEqual(['confirmed', 'confirmed']);
  expect(await expireHolds(given.db, given.gala.shardId, 100)).toBe(2);
  expect((await floodgate('ticket', 'update', `${first}`, '--with-holds')).code).toBe(2);
  await floodgate('ticket', 'resume-all', `${given.gala.eventId}`);
  await reserve(second);
  const alone = await floodgate('ticket', 'update', `${second}`, '--inactive', '--with-holds');
  expect(alone.output).toMatch(/held seats that are released:? +1/);
});

type Seat = Record<'serial' | 'passCode', number>;

test('a ticket that an operator resumes and stops by itself does not come back with the others', async () => {
  const [first, second] = [await given.gala.addTicket(), await given.gala.addTicket()];
  await floodgate('ticket', 'stop-all', `${given.gala.eventId}`);
  for (const change of ['--active', '--inactive'])
    expect((await floodgate('ticket', 'update', `${second}`, change)).code).toBe(0);
  expect((await floodgate('ticket', 'update', `${second}`, '--active', '--inactive')).code).toBe(2);
  await floodgate('ticket', 'resume-all', `${given.gala.eventId}`);
  expect(await onSale()).toEqual([first]);
});

test('an event is archived when nothing of it is on sale, and can be restored', async () => {
  await given.gala.addTicket();
  const refused = await floodgate('event', 'archive', `${given.gala.eventId}`);
  expect(refused).toEqual({ code: 1, output: expect.stringContaining('take them off sale first') });
  await floodgate('ticket', 'stop-all', `${given.gala.eventId}`);
  expect((await floodgate('event', 'archive', `${given.gala.eventId}`)).code).toBe(0);
  expect(await listed()).not.toContain(given.gala.eventId);
  expect(await listed('--archived')).toEqual([given.gala.eventId]);
  const resumed = await floodgate('ticket', 'resume-all', `${given.gala.eventId}`);
  expect(resumed).toEqual({ code: 1, output: expect.stringContaining('restore it first') });
  await floodgate('event', 'restore', `${given.gala.eventId}`);
  expect(await listed()).toContain(given.gala.eventId);
  expect(await listed('--archived')).toEqual([]);
});
