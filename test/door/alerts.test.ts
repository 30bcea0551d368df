import { perform } from '@floodgate/audit';
import type { Database } from '@floodgate/database';
import { revokeDeviceAction } from '@floodgate/door/actions';
import { checkDoors } from '@floodgate/door/check-doors';
import { doorWorker } from '@floodgate/door/worker';
import { Metrics } from '@floodgate/metrics';
import { sql } from 'kysely';
import { beforeEach, expect, inject, onTestFinished } from 'vitest';
import { apiTest } from '../harness/api-test.ts';
import { connectInTest } from '../harness/connect-in-test.ts';
import { addDevice, addGate, enrolledDevice } from '../harness/door-device.ts';
import { finalizePending } from '../harness/journal.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { attendee } from '../harness/partner-client.ts';
import { runCli } from '../harness/service-process.ts';
import { roleOf, withRole } from '../harness/service-roles.ts';
import { tablesOf } from '../harness/stored-tables.ts';
import { waitUntil } from '../harness/wait-until.ts';

const { test, given } = apiTest({ own: 'counts, empties or compares whole tables' });

test.override('ticket', { capacity: 100 });

// The figures behind the alerts about doors, as a worker tells them.

let clock: ManualClock;
let db: Database;

beforeEach(async () => {
  clock = new ManualClock();
  db = connectInTest(withRole(roleOf('worker'), given.database.url));
  for (const table of ['devices', 'gates', 'journal_segments'])
    await sql`delete from ${sql.table(table)}`.execute(given.db);
});

/** Starts the task of a worker. The returned function runs it once and returns the figures. */
function startWorker(): () => Promise<Record<string, number>> {
  const metrics = new Metrics('worker');
  const { tasks } = doorWorker.open({ db, metrics, clock } as never);
  onTestFinished(() => db.destroy());
  return async () => {
    await Promise.allSettled(tasks.map((task) => task.run()));
    const found = (await metrics.text()).matchAll(/^floodgate_worker_door_(\w+) (\S+)$/gm);
    return Object.fromEntries(Array.from(found, ([, name, value]) => [name!, Number(value)]));
  };
}

const NO_CONTACT = 'no contact for 5 minutes with 1 device of open gates, see floodgate device list';

/** Returns the codes of what is wrong at the doors, as `floodgate status` finds it. `meanwhile` happens while it waits for late scans. */
async function check(meanwhile = () => Promise.resolve()): Promise<string[]> {
  const checked = checkDoors(given.db, clock);
  let isOver = false;
  void checked.finally(() => (isOver = true)).catch(() => {});
  await waitUntil('it waits or ends', () => clock.pending > 0 || isOver);
  if (clock.pending > 0) await meanwhile();
  await clock.runAll();
  return (await checked).map(({ code }) => code);
}

const QUIET = { silent_devices: 0, waiting_seconds: 0, new_conflicts: 0 };

/** Returns the time so many minutes ago. */
const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000);

/** Adds a gate with the times of its opening and closing, and sets those of the event. */
async function gateOf(times: { opens?: Date; closes?: Date; starts?: Date; ends?: Date }): Promise<number> {
  const { eventId } = given.gala;
  const id = await addGate(given.db, eventId);
  const tables = tablesOf(given.db);
  const { opens = null, closes = null, starts = null, ends = null } = times;
  await tables
    .updateTable('gates')
    .set({ opens_at: opens, closes_at: closes })
    .where('id', '=', id)
    .execute();
  const dates = { starts_at: starts, ends_at: ends };
  await tables.updateTable('events').set(dates).where('id', '=', eventId).execute();
  return id;
}

/** Adds a device that is enrolled and was in contact six minutes ago. */
async function deviceAt(gate: number, facts: Record<string, unknown> = {}): Promise<number> {
  const { id } = await addDevice(given.db, given.gala.eventId, [gate]);
  const enrolled = { public_key: Buffer.alloc(32), last_contact_at: ago(6), ...facts };
  const device = tablesOf(given.db).updateTable('devices').where('id', '=', id);
  await device.set(enrolled).execute();
  return id;
}

test('a device is silent five minutes after its last contact, while its gate is open', async () => {
  const read = startWorker();
  const gate = await gateOf({ opens: ago(60), closes: ago(-60) });
  expect(await read()).toEqual(QUIET);
  await deviceAt(gate, { last_contact_at: ago(4.9) });
  expect(await read()).toEqual(QUIET);
  await deviceAt(gate, { last_contact_at: ago(5.1) });
  await deviceAt(await gateOf({ opens: ago(60), closes: ago(-60) }));
  expect(await read()).toEqual({ ...QUIET, silent_devices: 2 });
});

test.for([
  ['an open gate', { opens: ago(60), closes: ago(-60) }, 1],
  ['a gate that opened less than five minutes ago', { opens: ago(4), closes: ago(-60) }, 0],
  ['a closed gate', { opens: ago(60), closes: ago(1) }, 0],
  ['a closed gate of an event that goes on', { closes: ago(1), starts: ago(60), ends: ago(-60) }, 0],
  ['a gate without times, during its event', { starts: ago(60), ends: ago(-60) }, 1],
  ['a gate without times, before its event', { starts: ago(-1), ends: ago(-60) }, 0],
  ['a gate without times, after its event', { starts: ago(60), ends: ago(1) }, 0],
  ['a gate that opens before its event', { opens: ago(30), starts: ago(-60), ends: ago(-90) }, 1],
] as const)('a device at %s is silent or not', async ([, times, silent]) => {
  await deviceAt(await gateOf(times));
  expect((await startWorker()()).silent_devices).toBe(silent);
});

test.for([
  ['without times', {}],
  ['without an end', { opens: ago(60) }],
  ['without a start', { closes: ago(-60) }],
] as const)('at a gate %s, another device must be in contact', async ([, times]) => {
  const read = startWorker();
  const gate = await gateOf(times);
  await deviceAt(gate);
  await deviceAt(gate, { last_contact_at: ago(5.1) });
  expect(await read()).toEqual(QUIET);
  const other = await deviceAt(await gateOf(times), { last_contact_at: ago(4.9) });
  expect(await read()).toEqual({ ...QUIET, silent_devices: 2 });
  await sql`update devices set event_id = 0 where id = ${other}`.execute(given.db);
  expect(await read()).toEqual(QUIET);
});

test.for([
  ['was never enrolled', { public_key: null, last_contact_at: null }],
  ['has a new code', { public_key: null }],
  ['has signed off', { signed_off_at: ago(6) }],
  ['was revoked', { revoked_at: ago(6) }],
  ['is lost', { revoked_at: ago(6), lost: true }],
] as const)('a device that %s is not silent', async ([, facts]) => {
  await deviceAt(await gateOf({ opens: ago(60), closes: ago(-60) }), facts);
  expect(await startWorker()()).toEqual(QUIET);
});

test('scans wait from when a device has told of them until they are received', async () => {
  const read = startWorker();
  const gate = await gateOf({});
  const contact = { last_contact_at: ago(0) };
  const device = await deviceAt(gate, { ...contact, last_counter: 5, received: 3 });
  expect(await read()).toEqual(QUIET);
  await clock.advance(200_000);
  await deviceAt(gate, { ...contact, last_counter: 1 });
  expect(await read()).toEqual({ ...QUIET, waiting_seconds: 200 });
  await clock.advance(101_000);
  expect(await read()).toEqual({ ...QUIET, waiting_seconds: 301 });
  await sql`update devices set received = 5 where id = ${device}`.execute(given.db);
  expect(await read()).toEqual({ ...QUIET, waiting_seconds: 101 });
  await sql`update devices set last_counter = 6 where id = ${device}`.execute(given.db);
  await read();
  await clock.advance(50_000);
  expect(await read()).toEqual({ ...QUIET, waiting_seconds: 151 });
  // A revoked device can send nothing any more.
  for (const { id } of await tablesOf(given.db).selectFrom('devices').select('id').execute())
    await perform(
      given.db,
      revokeDeviceAction,
      { eventId: given.gala.eventId, deviceId: id, lost: true },
      'tests',
    );
  expect(await read()).toEqual(QUIET);
});

test('status names a silent device, and scans that a device does not send', async () => {
  onTestFinished(() => db.destroy());
  expect(await check()).toEqual([]);
  await deviceAt(await gateOf({ opens: ago(60), closes: ago(-60) }));
  expect(await check()).toEqual(['devicesSilent']);
  const env = { DATABASE_URL: given.database.url, QUEUE_URL: given.database.url };
  const { code, output } = await runCli(env, 'status', '--check');
  expect([code, output]).toEqual([1, expect.stringContaining(NO_CONTACT)]);
  const contact = { last_contact_at: ago(0) };
  const device = await deviceAt(await gateOf({}), { ...contact, last_counter: 5, received: 3 });
  expect(await check()).toEqual(['devicesSilent', 'scansWaiting']);
  const receive = async () => {
    await sql`update devices set received = 5 where id = ${device}`.execute(given.db);
    await deviceAt(await gateOf({}), { ...contact, last_counter: 1 });
  };
  // One that reports scans meanwhile may send them in a moment.
  expect(await check(receive)).toEqual(['devicesSilent']);
});

test('a conflict is new for 15 minutes after it became known, whenever the people were let in', async () => {
  const { eventId, shardId } = given.gala;
  const gate = await addGate(given.db, eventId);
  const read = startWorker();
  expect(await read()).toEqual(QUIET);
  const sold = (await given.partner.register(attendee(given.ticketId))).body.responseData as string;
  await finalizePending(given.db, shardId);
  const { pass } = (await given.partner.pass(sold)).body.responseData as { pass: string };
  for (const hours of [2, 3]) {
    const device = await enrolledDevice(given.db, given.api.baseUrl, eventId, [gate]);
    const scannedAt = ago(hours * 60).toISOString();
    await device.scan(pass, gate, { scannedAt, decision: 'admitted' });
  }
  await finalizePending(given.db, shardId);
  expect(await read()).toEqual({ ...QUIET, new_conflicts: 1 });
  expect(await check()).toEqual(['doorConflicts']);
  await clock.advance(14 * 60_000);
  expect(await read()).toEqual({ ...QUIET, new_conflicts: 1 });
  await clock.advance(60_000);
  expect(await read()).toEqual(QUIET);
  const readLater = startWorker();
  expect(await readLater()).toEqual({ ...QUIET, new_conflicts: 1 });
  await sql`update journal_segments set at = ${ago(16)}`.execute(given.db);
  expect(await startWorker()()).toEqual(QUIET);
});

// It adds a second shard, which a cluster has already.
test.skipIf(inject('engine') === 'citus')(
  'a shard that does not answer keeps the figures of the others',
  async () => {
    await deviceAt(await gateOf({ opens: ago(60), closes: ago(-60) }));
    await sql`insert into shards (id) values (1)`.execute(given.db);
    await sql`insert into journal_heads (shard_id) values (1)`.execute(given.db);
    await sql`
    create function answer(shard integer) returns boolean language plpgsql as $$
    begin
      if shard = 1 then raise exception 'away' using errcode = '08006'; end if;
      return true;
    end $$`.execute(given.db);
    await sql`create policy away on journal_heads using (answer(shard_id))`.execute(given.db);
    const read = startWorker();
    expect((await read()).silent_devices).toBe(1);
    await sql`alter table journal_heads enable row level security`.execute(given.db);
    await expect(sql`select from journal_heads where shard_id = 1`.execute(db)).rejects.toThrow('away');
    expect((await read()).silent_devices).toBe(1);
    await sql`alter table journal_heads disable row level security`.execute(given.db);
  },
);

test('figures that cannot be read are missing until they can', async () => {
  const read = startWorker();
  expect(await read()).toEqual(QUIET);
  await sql`revoke select (received) on devices from ${sql.id(roleOf('worker'))}`.execute(given.db);
  expect(await read()).toEqual({});
  await sql`grant select (received) on devices to ${sql.id(roleOf('worker'))}`.execute(given.db);
  expect(await read()).toEqual(QUIET);
});
