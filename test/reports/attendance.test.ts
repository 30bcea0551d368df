import { perform } from '@floodgate/audit';
import { cancelRegistrationAction, replaceAttendeeAction } from '@floodgate/registrations/actions';
import { reportOperations } from '@floodgate/reports/console';
import { COMMAND_LINE } from '@floodgate/operators';
import { sql } from 'kysely';
import { expect } from 'vitest';
import { apiTest } from '../harness/api-test.ts';
import { addGate, enrolledDevice } from '../harness/door-device.ts';
import { finalizePending } from '../harness/journal.ts';
import { attendee } from '../harness/partner-client.ts';

const { test, given } = apiTest({ own: 'finalizes everything in the database' });

test.override('ticket', { capacity: 100 });

async function sell() {
  const reference = (await given.partner.register(attendee(given.ticketId))).body.responseData as string;
  await finalizePending(given.database.db, given.gala.shardId);
  const pass = ((await given.partner.pass(reference)).body.responseData as { pass: string }).pass;
  return { reference, pass };
}

test('who came and who did not, and the admissions by gate and quarter of an hour', async () => {
  const { db } = given.database;
  const { eventId } = given.gala;
  const gate = await addGate(db, eventId);
  const device = await enrolledDevice(db, given.api.baseUrl, eventId, [gate]);
  const [came, cameAndCancelled] = [await sell(), await sell()];
  for (let noShow = 0; noShow < 2; noShow++) await sell();
  const cancelled = await sell();
  await device.scan(came.pass, gate);
  await device.scan(cameAndCancelled.pass, gate);
  for (const { reference: passReference } of [cameAndCancelled, cancelled])
    await perform(db, cancelRegistrationAction, { passReference }, 'test');
  const attendance = await reportOperations.reportAttendance(db, { eventId }, COMMAND_LINE);
  expect(attendance).toMatchObject({
    rows: [{ ticketId: given.ticketId, expected: 3, came: 1, noShows: 2, cameAndCancelled: 1 }],
  });
  const admissions = await reportOperations.reportAdmissions(db, { eventId }, COMMAND_LINE);
  if (admissions instanceof Response) throw new Error('a document was asked for');
  const admitted = admissions.rows.filter(({ gateId }) => gateId === gate).map((row) => row.admitted);
  // The two scans can be on both sides of the quarter.
  expect(admitted.reduce((sum, count) => sum + count, 0)).toBe(2);
  expect(admissions.rows.every(({ at }) => at.getTime() % 900_000 === 0)).toBe(true);
});

test('an admission that was undone counts nowhere', async () => {
  const { db } = given.database;
  const { eventId } = given.gala;
  const gate = await addGate(db, eventId);
  const device = await enrolledDevice(db, given.api.baseUrl, eventId, [gate]);
  const { pass } = await sell();
  await device.scan(pass, gate);
  await device.scan(pass, gate, { direction: 'undo', of: 1, decision: 'undone' });
  expect(await reportOperations.reportAttendance(db, { eventId }, COMMAND_LINE)).toMatchObject({
    rows: [{ expected: 1, came: 0, noShows: 1 }],
  });
  expect(await reportOperations.reportAdmissions(db, { eventId }, COMMAND_LINE)).toMatchObject({ rows: [] });
});

test('who came is counted beside a sale, also if a changed attendee has a lower serial than the seat', async () => {
  const { db } = given.database;
  const { eventId } = given.gala;
  const gate = await addGate(db, eventId);
  const device = await enrolledDevice(db, given.api.baseUrl, eventId, [gate]);
  await sell();
  const after = await sql<{
    last: number;
  }>`select last_value::integer as last from registrations_serial_seq`.execute(db);
  const { last } = after.rows[0]!;
  // More than a window. On Citus, an operator's change gets a lower serial than the sale by itself.
  const continueAt = (serial: number) =>
    sql`select setval('registrations_serial_seq', ${serial}::bigint)`.execute(db);
  await continueAt(last + 200_000);
  const { reference: passReference, pass } = await sell();
  await device.scan(pass, gate);
  await continueAt(last);
  const someone = { fullName: 'Eve Later', emailAddress: 'eve@example.com' };
  // Its batch waits to be finalized, so the report reads in windows.
  await perform(db, replaceAttendeeAction, { passReference, ...someone }, 'test');
  expect(await reportOperations.reportAttendance(db, { eventId }, COMMAND_LINE)).toMatchObject({
    rows: [{ expected: 2, came: 1, noShows: 1 }],
  });
});
