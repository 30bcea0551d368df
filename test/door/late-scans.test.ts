import { perform } from '@floodgate/audit';
import { revokeDeviceAction } from '@floodgate/door/actions';
import { beforeEach, expect } from 'vitest';
import { sql } from 'kysely';
import { apiTest } from '../harness/api-test.ts';
import {
  addGate,
  enrolledDevice,
  readReport,
  type DoorDevice,
  type Outcome,
} from '../harness/door-device.ts';
import { finalizePending, journalOf } from '../harness/journal.ts';
import { attendee } from '../harness/partner-client.ts';
import { waitUntil } from '../harness/wait-until.ts';

const { test, given } = apiTest({ own: 'counts, empties or compares whole tables' });

// Faults that the drawn scans of model.test.ts have found, each with the fewest scans that show it.

test.override('ticket', { capacity: 100 });

let gate: number;
let yard: number;
let device: DoorDevice;
let other: DoorDevice;
let pass: string;
let reference: string;

const enrol = (name: string) =>
  enrolledDevice(given.database.db, given.api.baseUrl, given.gala.eventId, [gate, yard], name);
async function sell() {
  const sold = (await given.partner.register(attendee(given.ticketId))).body.responseData as string;
  await finalizePending(given.database.db, given.gala.shardId);
  const { pass: text } = (await given.partner.pass(sold)).body.responseData as { pass: string };
  return { reference: sold, pass: text };
}
const report = () => readReport(given.database.db, given.gala.eventId);
const conflicts = async () =>
  (await report()).conflicts.map(({ first, again }) => [first.device, again.device]);
const kinds = async () => {
  await finalizePending(given.database.db, given.gala.shardId);
  return (await journalOf(given.database.db, given.gala))
    .map(({ kind }) => kind)
    .filter((kind) => kind.startsWith('admitted'));
};
const ago = (seconds: number) => new Date(Date.now() - seconds * 1_000).toISOString();
const outcomes = async (of: DoorDevice) =>
  ((await of.upload()).body.responseData as { outcomes: Outcome[] }).outcomes.map(({ outcome }) => outcome);

beforeEach(async () => {
  gate = await addGate(given.database.db, given.gala.eventId);
  yard = await addGate(given.database.db, given.gala.eventId, { area: 'yard', entryRule: 're-entry' });
  device = await enrol('One');
  other = await enrol('Other');
  ({ reference, pass } = await sell());
});

/** Appends a question that does not reach the server, and the decision of the device. */
function appendCut(decision: string): void {
  device.append(pass, gate, { scannedAt: ago(60) });
  device.append(pass, gate, { scannedAt: ago(59), of: 1, decision });
}

test('the time of a decision counts, and not when its question arrives', async () => {
  appendCut('admitted');
  other.append(pass, gate, { scannedAt: ago(30), decision: 'admitted' });
  await device.upload();
  await other.upload();
  expect(await conflicts()).toEqual([['One', 'Other']]);
});

test('the time of a decision counts, also if its question arrives in an earlier call', async () => {
  appendCut('admitted');
  other.append(pass, gate, { scannedAt: ago(30), decision: 'admitted' });
  await other.upload();
  await device.upload(device.scans.slice(0, 1));
  await device.upload(device.scans.slice(1));
  expect(await conflicts()).toEqual([['One', 'Other']]);
});

test('a question that arrives with a refusal of the device admits nobody', async () => {
  appendCut('already-admitted');
  expect(await outcomes(device)).toEqual(['superseded', 'already-admitted']);
  expect(await kinds()).toEqual([]);
});

test('a device that lets in, out and in again makes no conflict, also if its clock was set back', async () => {
  device.append(pass, yard, { scannedAt: ago(-540), decision: 'admitted' });
  device.append(pass, yard, { scannedAt: ago(40), direction: 'out', decision: 'exited' });
  device.append(pass, yard, { scannedAt: ago(20), decision: 'admitted' });
  await device.upload();
  expect(await conflicts()).toEqual([]);
});

test('no scan is dated before an earlier one of its device, also of another pass', async () => {
  const next = await sell();
  device.append(next.pass, yard, { scannedAt: ago(-600), decision: 'admitted' });
  device.append(pass, yard, { scannedAt: ago(-600), decision: 'admitted' });
  await device.upload();
  device.append(next.pass, yard, { scannedAt: ago(40), direction: 'out', decision: 'exited' });
  device.append(next.pass, yard, { scannedAt: ago(20), decision: 'admitted' });
  await device.upload(device.scans.slice(2));
  expect(await conflicts()).toEqual([]);
});

test('no scan is dated before an earlier one of its device, also if the same call undoes that one', async () => {
  device.append(pass, yard, { scannedAt: ago(60), direction: 'out', decision: 'exited' });
  device.append(pass, yard, { scannedAt: ago(10), direction: 'out', decision: 'exited' });
  await device.upload();
  device.append(pass, yard, { scannedAt: ago(600), decision: 'admitted' });
  device.append(pass, yard, { direction: 'undo', of: 2, decision: 'undone' });
  await device.upload(device.scans.slice(2));
  const { rows } = await sql<{ isLater: boolean }>`
    select max(at) filter (where counter = 3) >= max(at) filter (where counter = 2) as "isLater"
    from scans where event_id = ${given.gala.eventId}`.execute(given.database.db);
  expect(rows).toEqual([{ isLater: true }]);
});

test('a decision whose admission is a conflict already says so, each time', async () => {
  other.append(pass, gate, { scannedAt: ago(60), decision: 'admitted' });
  await device.scan(pass, gate);
  await other.upload();
  expect((await device.scan(pass, gate, { of: 1, decision: 'admitted' })).outcome).toBe('admitted-again');
  expect(await outcomes(device)).toEqual(['superseded', 'admitted-again']);
});

test('a question that waits for a lock while the person leaves does not become a conflict', async () => {
  const late = await enrol('Late');
  late.append(pass, yard, { direction: 'out', decision: 'exited' });
  await device.scan(pass, yard);
  let question!: Promise<Outcome>;
  await given.database.db.transaction().execute(async (tx) => {
    await sql`select from devices where id = ${other.id} for no key update`.execute(tx);
    question = other.scan(pass, yard);
    await waitUntil('the question waits', async () => {
      const { rows } = await sql`
        select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query like '%record_scans%'`.execute(
        given.database.db,
      );
      return rows.length > 0;
    });
    await device.scan(pass, yard, { direction: 'out' });
  });
  expect((await question).outcome).toBe('admitted');
  await late.upload();
  expect(await conflicts()).toEqual([]);
});

test('a conflict that ends and begins again is published once', async () => {
  const third = await enrol('Third');
  third.append(pass, gate, { scannedAt: ago(90), decision: 'admitted' });
  device.append(pass, gate, { scannedAt: ago(60), decision: 'admitted' });
  other.append(pass, gate, { scannedAt: ago(30), decision: 'admitted' });
  for (const one of [device, other]) await one.upload();
  await device.scan(pass, gate, { direction: 'undo', of: 1 });
  expect(await conflicts()).toEqual([]);
  await third.upload();
  expect((await kinds()).filter((kind) => kind === 'admitted_again')).toHaveLength(1);
});

test('an undo that arrives before its question and decision counts', async () => {
  appendCut('admitted');
  device.append(pass, gate, { scannedAt: ago(58), of: 2, direction: 'undo', decision: 'undone' });
  await device.upload(device.scans.slice(2));
  await device.upload(device.scans.slice(0, 2));
  expect((await report()).gates[0]).toMatchObject({ admitted: 0 });
});

test('a decision for another pass than that of the question admits its own pass', async () => {
  const next = await sell();
  await device.scan(pass, gate);
  await device.scan(next.pass, gate, { of: 1, decision: 'admitted' });
  expect((await other.scan(next.pass, gate)).outcome).toBe('already-admitted');
});

test('an admission whose answer was lost counts, also if the registration is cancelled then', async () => {
  await device.scan(pass, gate);
  await given.partner.cancel(reference);
  expect((await device.scan(pass, gate, { of: 1, decision: 'admitted' })).outcome).toBe('admitted');
  expect((await report()).gates[0]).toMatchObject({ admitted: 1 });
});

test('the first scan of a device has no history', async () => {
  device.append(pass, gate, { previousHash: 'A'.repeat(43) });
  expect((await device.upload()).body.responseCode).toBe('11');
});

test('a device cannot let a person out at a gate of other devices', async () => {
  const inside = await addGate(given.database.db, given.gala.eventId, {
    area: 'inside',
    entryRule: 're-entry',
  });
  const own = await enrolledDevice(given.database.db, given.api.baseUrl, given.gala.eventId, [inside]);
  await own.scan(pass, inside);
  await device.scan(pass, inside, { direction: 'out', decision: 'exited' });
  expect((await own.scan(pass, inside)).outcome).toBe('already-admitted');
});

test('the missing scans of a revoked device cannot arrive any more, also if it has signed off', async () => {
  device.append(pass, gate, { decision: 'admitted' });
  for (const one of [device, other]) await one.signOff();
  await perform(
    given.database.db,
    revokeDeviceAction,
    { eventId: given.gala.eventId, deviceId: device.id },
    'tests',
  );
  const { open, except } = await report();
  expect({ open, except }).toEqual({ open: [], except: [expect.stringContaining('scans 1 are missing')] });
});
