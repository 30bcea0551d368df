import { perform } from '@floodgate/audit';
import { cancelRegistrationAction, replaceAttendeeAction } from '@floodgate/registrations/actions';
import { beforeEach, describe, expect } from 'vitest';
import { apiTest } from '../harness/api-test.ts';
import { addGate, enrolledDevice, readReport, type DoorDevice } from '../harness/door-device.ts';
import { finalizePending } from '../harness/journal.ts';
import { attendee } from '../harness/partner-client.ts';

const { test, given } = apiTest({ own: 'finalizes everything in the database' });

test.override('ticket', { capacity: 100 });

const SOMEONE = { fullName: 'Eve Later', emailAddress: 'eve@example.com' };
const ADMITTED = 'The seat was admitted at the door, so only the operator of the event can change it';
const REPLACED = 'The attendee was changed, and the seat belongs to the new registration';

let gate: number;
let device: DoorDevice;

const textOf = async (reference: string) => {
  await finalizePending(given.database.db, given.gala.shardId);
  return ((await given.partner.pass(reference)).body.responseData as { pass: string }).pass;
};

/** Registers somebody. Resolves to the pass reference and the pass. */
async function sell() {
  const reference = (await given.partner.register(attendee(given.ticketId))).body.responseData as string;
  return { reference, pass: await textOf(reference) };
}

const change = (reference: string) =>
  given.partner.post(`/registrations/${reference}/attendee`, attendee(given.ticketId, SOMEONE));
const refusal = ({ body: { responseCode, responseMessage } }: Awaited<ReturnType<typeof change>>) => [
  responseCode,
  responseMessage,
];
/** A scan that was decided offline a minute ago: the time of an upload makes the time of a scan inexact. */
const offlineScan = () => ({
  decision: 'admitted',
  scannedAt: new Date(Date.now() - 60_000).toISOString(),
});
const report = () => readReport(given.database.db, given.gala.eventId);
const replaceByOperator = (passReference: string) =>
  perform(given.database.db, replaceAttendeeAction, { passReference, ...SOMEONE }, 'tests');
const cancelByOperator = (passReference: string) =>
  perform(given.database.db, cancelRegistrationAction, { passReference }, 'tests');

beforeEach(async () => {
  gate = await addGate(given.database.db, given.gala.eventId);
  device = await enrolledDevice(given.database.db, given.api.baseUrl, given.gala.eventId, [gate]);
});

describe('after an admission', () => {
  test('a partner can neither cancel nor change the attendee, until the admission is undone', async () => {
    const { reference, pass } = await sell();
    await device.scan(pass, gate);
    expect(refusal(await given.partner.cancel(reference))).toEqual(['35', ADMITTED]);
    expect(refusal(await change(reference))).toEqual(['35', ADMITTED]);
    await device.scan(pass, gate, { direction: 'undo', of: 1, decision: 'undone' });
    expect((await change(reference)).body.responseCode).toBe('00');
    expect((await report()).devices).toMatchObject([{ undone: 1 }]);
  });

  test('the pass of an attendee whom the operator adds counts as admitted', async () => {
    const { reference, pass } = await sell();
    await device.scan(pass, gate);
    const { passReference, wasAdmitted } = await replaceByOperator(reference);
    expect(wasAdmitted).toBe(true);
    const later = await textOf(passReference);
    expect(await device.scan(later, gate)).toMatchObject({
      outcome: 'already-admitted',
      first: { gate: 'Main entrance' },
    });
    expect(refusal(await given.partner.cancel(passReference))).toEqual(['35', ADMITTED]);
    expect((await report()).tickets).toMatchObject([{ sold: 1, people: 1, exceptions: 0 }]);
  });

  test('a seat that the operator cancels can be sold again, and the report names it', async () => {
    const { reference, pass } = await sell();
    await device.scan(pass, gate);
    expect((await cancelByOperator(reference)).wasAdmitted).toBe(true);
    const next = await sell();
    expect((await device.scan(next.pass, gate)).outcome).toBe('admitted');
    expect(await report()).toMatchObject({
      proved: true,
      tickets: [{ sold: 1, people: 2, exceptions: 1 }],
      cancelled: [{ passReference: reference, gate: 'Main entrance', device: 'Scanner' }],
    });
  });
});

describe('a scan that was made offline and arrives late', () => {
  /** A pass was scanned offline, then the partner changed the attendee, whose pass was admitted. Resolves to the report. */
  async function changeAfterScan(of: { isBefore: boolean }) {
    const { reference, pass } = await sell();
    const offline = await enrolledDevice(
      given.database.db,
      given.api.baseUrl,
      given.gala.eventId,
      [gate],
      'Offline',
    );
    if (of.isBefore) offline.append(pass, gate, offlineScan());
    const later = (await change(reference)).body.responseData as string;
    expect((await device.scan(await textOf(later), gate)).outcome).toBe('admitted');
    if (!of.isBefore) offline.append(pass, gate, { decision: 'admitted' });
    await offline.upload();
    return { reference, later, report: await report() };
  }

  test('before the change of attendee is a conflict of the seat, with both passes and both devices', async () => {
    const { reference, later, report: found } = await changeAfterScan({ isBefore: true });
    expect(found).toMatchObject({
      proved: true,
      tickets: [{ sold: 1, people: 2, exceptions: 1 }],
      conflicts: [
        {
          first: { passReference: reference, device: 'Offline' },
          again: { passReference: later, device: 'Scanner' },
        },
      ],
    });
  });

  test('after it names the person who was let in, and the admission of the seat', async () => {
    const { reference, later, report: found } = await changeAfterScan({ isBefore: false });
    expect(found).toMatchObject({
      proved: true,
      tickets: [{ sold: 1, people: 2, exceptions: 1 }],
      conflicts: [],
      letIn: [
        {
          passReference: reference,
          reason: 'cancelled',
          device: 'Offline',
          seat: { passReference: later, device: 'Scanner' },
        },
      ],
    });
  });

  test('of a seat that was cancelled meanwhile is named', async () => {
    const { reference, pass } = await sell();
    device.append(pass, gate, offlineScan());
    expect((await given.partner.cancel(reference)).body.responseCode).toBe('00');
    await device.upload();
    expect(await report()).toMatchObject({ proved: true, cancelled: [{ passReference: reference }] });
  });
});

test('a registration whose attendee was changed cannot be cancelled, and a cancelled one can again', async () => {
  const { reference } = await sell();
  const later = (await change(reference)).body.responseData as string;
  for (let call = 0; call < 2; call += 1)
    expect(refusal(await given.partner.cancel(reference))).toEqual(['35', REPLACED]);
  await expect(cancelByOperator(reference)).rejects.toThrow(REPLACED);
  for (let call = 0; call < 2; call += 1)
    expect((await given.partner.cancel(later)).body.responseCode).toBe('00');
});

test('the admissions of a seat are listed for each of its passes', async () => {
  const { reference, pass } = await sell();
  await device.scan(pass, gate);
  const { passReference } = await replaceByOperator(reference);
  for (const one of [reference, passReference]) {
    const { body } = await given.partner.request(`/api/v1/events/registrations/${one}/admissions`);
    expect(body.responseData).toMatchObject({ admissions: [{ gate: 'Main entrance', state: 'admitted' }] });
  }
});
