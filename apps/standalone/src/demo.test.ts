import { readFile, stat, writeFile } from 'node:fs/promises';
import { connect, migrate } from '@floodgate/database';
import { findEvent, listEvents, updateEvent } from '@floodgate/events';
import { listPartners } from '@floodgate/partners';
import { listTickets } from '@floodgate/tickets';
import { startPostgres } from '@floodgate/embedded-postgres';
import { expect, test, vi } from 'vitest';
import { ensureDemo, type Demo } from './demo.ts';
import { temporaryDirectory } from '../../../test/harness/temporary-directory.ts';

vi.setConfig({ testTimeout: 60_000 });

test('the demo is created once, reused, and created again if the file or the database is lost', async () => {
  await using directory = await temporaryDirectory();
  await using server = await startPostgres({
    dataDir: directory.file('postgres'),
    logFile: directory.file('log'),
    settings: { fsync: 'off' },
  });
  const db = connect({ connectionString: server.url(), applicationName: 'test', maxConnections: 2 });
  await using _db = { [Symbol.asyncDispose]: () => db.destroy() };
  await migrate(db);
  const file = directory.file('demo.json');
  const read = async () => JSON.parse(await readFile(file, 'utf8')) as Demo;

  const first = await ensureDemo(db, file, 'http://127.0.0.1:3000');
  expect(await read()).toEqual(first);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const [event] = await listEvents(db);
  expect(event).toMatchObject({ ref: first.eventRef, id: first.eventId, passPrefix: 'GALA' });
  const startsSoon = async () => {
    const { startsAt, endsAt } = await findEvent(db, first.eventId);
    // Within a day: the waiting list is open, and passes are valid.
    const tomorrow = new Date(Date.now() + 86_400_000);
    return new Date() < startsAt! && startsAt! < tomorrow && startsAt! < endsAt!;
  };
  expect(await startsSoon()).toBe(true);
  const tickets = await listTickets(db, event!.id);
  expect(tickets.map(({ id }) => id)).toEqual(first.tickets.map(({ id }) => id));
  expect(tickets.map(({ capacity, active }) => [capacity, active])).toEqual([
    [1_000_000, true],
    [5, true],
    [2, true],
    [1_000, false],
    [1_000, true],
  ]);
  const now = new Date();
  expect(tickets[4]!.saleStartsAt! > now).toBe(true);
  // The id in the guide's examples of a waiting list.
  expect(tickets[2]).toMatchObject({ id: 3, taken: 2, offerHours: 24 });

  const again = await ensureDemo(db, file, 'http://127.0.0.1:4000');
  expect(again).toEqual({ ...first, baseUrl: 'http://127.0.0.1:4000' });
  expect(await read()).toEqual(again);
  expect(await listPartners(db)).toHaveLength(2);

  // An event that is over starts again.
  const [startsAt, endsAt] = [new Date('2020-01-01'), new Date('2020-01-02')];
  await updateEvent(db, first.eventId, { startsAt, endsAt });
  expect(await ensureDemo(db, file, first.baseUrl)).toEqual(first);
  expect(await startsSoon()).toBe(true);

  const { secretKey } = first;
  const forged = `${secretKey.slice(0, -1)}${secretKey.endsWith('A') ? 'E' : 'A'}`;
  for (const lost of ['', '{}', JSON.stringify({ ...first, secretKey: forged })]) {
    await writeFile(file, lost);
    const fresh = await ensureDemo(db, file, first.baseUrl);
    expect(fresh.secretKey).not.toBe(secretKey);
    expect(fresh.eventRef).not.toBe(first.eventRef);
  }
  expect(new Set((await listPartners(db)).map(({ name }) => name)).size).toBe(5);
});
