import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { beforeEach, describe, expect, onTestFinished } from 'vitest';
import { apiTest } from '../harness/api-test.ts';
import {
  addGate,
  DoorDevice,
  enrolledDevice,
  readReport,
  type Outcome,
  type Scan,
} from '../harness/door-device.ts';
import { expectFailure } from '../harness/expect-failure.ts';
import { createFixture } from '../harness/fixture.ts';
import { holdTable } from '../harness/hold-table.ts';
import { finalizePending, journalOf } from '../harness/journal.ts';
import { waitForLockWaiters } from '../harness/lock-waiters.ts';
import { attendee, PartnerClient } from '../harness/partner-client.ts';
import { waitUntil } from '../harness/wait-until.ts';

const { test, given } = apiTest({ own: 'changes the schema, the roles or the settings of its database' });

/** No scan of this file is older. */
const LOADED_AT = Date.now();

test.override('ticket', { capacity: 100 });

const MEBIBYTE = 1024 * 1024;

let gate: number;
let device: DoorDevice;
let reference: string;
let pass: string;

const enrol = (name = 'Scanner', eventId = given.gala.eventId, gates = [gate]) =>
  enrolledDevice(given.database.db, given.api.baseUrl, eventId, gates, name);
const report = () => readReport(given.database.db, given.gala.eventId);
const outcomesOf = (data: unknown) =>
  (data as { outcomes: Outcome[] }).outcomes.map(({ outcome }) => outcome);

async function sell(client = given.partner, ticket = given.ticketId, shardId = given.gala.shardId) {
  const sold = (await client.register(attendee(ticket))).body.responseData as string;
  await finalizePending(given.database.db, shardId);
  const { pass: text } = (await client.pass(sold)).body.responseData as { pass: string };
  return { reference: sold, pass: text };
}

/** Expects that the server has stored nothing, and that it still accepts all scans of the device. */
async function expectNothingLost(): Promise<void> {
  expect((await report()).devices).toEqual([expect.objectContaining({ received: 0, forkedCounter: null })]);
  const { body } = await device.upload();
  expect(outcomesOf(body.responseData)).toEqual(['admitted', 'exited', 'already-admitted']);
  await device.signOff();
  expect(await report()).toMatchObject({ complete: true, conflicts: [] });
}

beforeEach(async () => {
  gate = await addGate(given.database.db, given.gala.eventId);
  device = await enrol();
  ({ reference, pass } = await sell());
  device.append(pass, gate, { decision: 'admitted' });
  device.append(pass, gate, { direction: 'out', decision: 'exited' });
  device.append(pass, gate, { decision: 'already-admitted' });
});

/** What is wrong with a list of scans. */
const WRONG_LISTS: Record<string, (scans: Scan[]) => Scan[]> = {
  'another order': ([first, second, third]) => [first!, third!, second!],
  'a gap': ([first, , third]) => [first!, third!],
  'one scan twice': ([first, ...others]) => [first!, first!, ...others],
  'a changed scan': ([first, ...others]) => [{ ...first!, decision: 'cancelled' }, ...others],
  'an earlier time': ([first, ...others]) => [
    { ...first!, scannedAt: '2026-01-01T00:00:00.000Z' },
    ...others,
  ],
  'a scan that undoes a later one': ([first, ...others]) => [{ ...first!, of: 2 }, ...others],
  'more scans than a call may have': ([first]) => Array.from({ length: 501 }, () => first!),
};

/** What is wrong with a field of a scan. */
const WRONG_FIELDS: Record<string, object> = {
  'a counter of 0': { counter: 0 },
  'a counter that no number has exactly': { counter: 2 ** 53 },
  'a day that does not exist': { scannedAt: '2026-02-31T10:00:00.000Z' },
  'an hour that does not exist': { scannedAt: '2026-02-03T24:00:00.000Z' },
  'no text': { pass: '' },
  'a text of two lines': { pass: 'one\ntwo' },
  'a text that is too long': { pass: 'x'.repeat(301) },
  'a gate that no number has': { gateID: 2 ** 31 },
  'an unknown decision': { decision: 'superseded' },
  'another direction': { direction: 'up' },
};

describe('a call is refused as a whole, and nothing is lost,', () => {
  test('if its list or a field of a scan is wrong', async () => {
    for (const [what, change] of Object.entries(WRONG_LISTS))
      expect([what, (await device.upload(change(device.scans))).body.responseCode]).toEqual([what, '11']);
    for (const [what, change] of Object.entries(WRONG_FIELDS)) {
      const { body } = await device.upload([{ ...device.scans[0]!, ...change }]);
      expect([what, body.responseCode]).toEqual([what, '11']);
    }
    await expectNothingLost();
  });

  test('if it is signed with the key of another device', async () => {
    const thief = await enrol('Thief');
    const sentAt = device.now();
    const signature = thief.sign('scans', sentAt, device.hashOf(device.scans.at(-1)!));
    expectFailure(await device.upload(device.scans, { sentAt, signature }), '11');
    // The hashes name the device.
    expectFailure(await thief.upload(device.scans), '11');
    expect((await report()).devices.map(({ received }) => received)).toEqual([0, 0]);
  });

  test('if its signature is for another time, or its body is too large', async () => {
    expectFailure(await device.upload(device.scans, { sentAt: '2026-01-01T00:00:00.000Z' }), '11');
    for (const mebibytes of [10, 1]) {
      const answer = await device.upload(device.scans, { more: 'x'.repeat(mebibytes * MEBIBYTE) });
      expectFailure(answer, '10', 413);
    }
    await expectNothingLost();
  });
});

test('a replayed call, also with the same headers, gets the same outcomes and admits nobody again', async () => {
  const path = '/scans';
  const sentAt = device.now();
  const body = {
    scans: device.scans,
    sentAt,
    signature: device.sign('scans', sentAt, device.hashOf(device.scans[2]!)),
  };
  const time = String(Date.now());
  const headers = { 'x-door-time': time, 'x-door-signature': device.sign('POST', `/door/v1${path}`, time) };
  const answers = await Promise.all([1, 2, 3].map(() => device.send('POST', path, body, headers)));
  for (const { body: answered } of answers)
    expect(outcomesOf(answered.responseData)).toEqual(['admitted', 'exited', 'already-admitted']);
  expect(await report()).toMatchObject({
    gates: [{ admitted: 1 }],
    devices: [{ received: 3 }],
    conflicts: [],
  });
  await finalizePending(given.database.db, given.gala.shardId);
  const kinds = (await journalOf(given.database.db, given.gala)).map(({ kind }) => kind);
  expect(kinds.filter((kind) => kind.startsWith('admitted'))).toEqual(['admitted']);
});

describe('a wrong time', () => {
  test('does not hide a conflict: a device that says it was first is named', async () => {
    const other = await enrol('Other');
    await other.scan(pass, gate);
    await device.upload();
    expect((await report()).conflicts).toMatchObject([
      { passReference: reference, first: { device: 'Scanner' }, again: { device: 'Other' } },
    ]);
  });

  test.for<[string, string, string]>([
    ['long ago', '2000-01-01T00:00:00.000Z', '2099-12-31T23:59:59.999Z'],
    ['in the future', '2099-12-31T23:59:59.999Z', '2000-01-01T00:00:00.000Z'],
  ])(
    '%s is neither before an earlier scan of the device nor in the future',
    async ([, scannedAt, sentAt]) => {
      await device.upload();
      const next = await sell();
      const scan = device.append(next.pass, gate, { scannedAt, decision: 'admitted' });
      const signature = device.sign('scans', sentAt, device.hashOf(scan));
      const { body } = await device.upload([scan], { sentAt, signature });
      expect(outcomesOf(body.responseData)).toEqual(['admitted']);
      const { body: read } = await given.partner.request(
        `/api/v1/events/registrations/${next.reference}/admissions`,
      );
      const [{ dateAdmitted }] = (read.responseData as { admissions: [{ dateAdmitted: string }] }).admissions;
      const [admittedAt, latest] = [Date.parse(dateAdmitted), Date.now()];
      expect([admittedAt >= LOADED_AT, admittedAt <= latest]).toEqual([true, true]);
    },
  );
});

test('a device of another event admits nobody, and its gates are not those of this event', async () => {
  const other = await createFixture(given.database.db);
  const otherGate = await addGate(given.database.db, other.eventId);
  const stranger = await enrol('Stranger', other.eventId, [otherGate]);
  const sold = await sell(
    new PartnerClient(given.api.baseUrl, other),
    await other.addTicket(),
    other.shardId,
  );
  for (const text of [pass, reference])
    for (const at of [otherGate, gate])
      expect((await stranger.scan(text, at, { decision: 'admitted' })).outcome).toBe('unknown');
  expect((await stranger.scan(sold.pass, gate, { decision: 'admitted' })).outcome).toBe('wrong-gate');
  expect((await stranger.scan(sold.pass, otherGate)).outcome).toBe('admitted');
  await stranger.scan(pass, gate, { direction: 'out', decision: 'exited' });
  await stranger.scan(pass, gate, { direction: 'undo', of: 1, decision: 'undone' });
  expect(await report()).toMatchObject({ gates: [{ admitted: 0 }], conflicts: [] });
  await expectNothingLost();
});

test('codes of other systems are unknown', async () => {
  const codes = [
    'https://tickets.example.com/t/8f3a?x=1',
    '4006381333931',
    'BEGIN:VCARD VERSION:3.0 FN:Jane END:VCARD',
    'WIFI:S:net;T:WPA;P:secret;;',
    `FG1.${pass.slice(4)}`,
    `${pass}0`,
    `FG2.${'0'.repeat(132)}`,
    "'; drop table scans; --",
    '\u{1F39F}\uFE0F'.repeat(100),
    '\uD800',
    '{"pass":null}',
    'x'.repeat(300),
  ];
  for (const code of codes)
    expect((await device.scan(code, gate)).outcome, code).toMatch(/^(unknown|revoked)$/);
  expect((await report()).gates[0]).toMatchObject({ admitted: 0 });
  await device.signOff();
  expect((await report()).complete).toBe(false);
  await device.upload();
  await device.signOff();
  expect(await report()).toMatchObject({ complete: true, gates: [{ admitted: 1 }] });
});

test('a device that names a counter it never reaches is not complete, and still sends its scans', async () => {
  expectFailure(await device.send('POST', '/sign-off?counter=1000001'), '11');
  await device.send('POST', '/sign-off?counter=1000000');
  expect(await report()).toMatchObject({ complete: false, devices: [{ missing: [[1, 1_000_000]] }] });
  expect((await device.upload()).body.responseCode).toBe('00');
  const { complete, devices } = await report();
  expect({ complete, missing: devices[0]!.missing }).toEqual({ complete: false, missing: [[4, 1_000_000]] });
});

/** Calls without a key, each with a token or code of its own that somebody has made up. */
const MADE_UP: Record<string, (shardId: number, id: number) => Promise<{ status: number }>> = {
  tokens: (shardId, id) => {
    const token = `fgd_${shardId}_${id}_${randomBytes(32).toString('base64url')}`;
    return fetch(`${given.api.baseUrl}/door/v1/state?counter=0`, {
      headers: { authorization: `Door ${token}` },
    });
  },
  codes: (shardId, id) => new DoorDevice(given.api.baseUrl).enrol(`${shardId}-${id}-AAAAA-AAAAA`),
};

test.for(Object.keys(MADE_UP))(
  'hundreds of made-up %s occupy one connection, and neither doors nor sales wait for them',
  async (what) => {
    const { rows } = await sql<{ id: number }>`select id from devices`.execute(given.database.db);
    await device.state();
    const held = await holdTable(given.database.db, 'devices');
    const flood = Promise.all(
      Array.from({ length: 300 }, (_, index) => MADE_UP[what]!(0, index % 2 ? rows[0]!.id : index)),
    );
    await waitUntil('a look-up waits', async () => (await held.waiters()) > 0);
    expect((await given.partner.tickets()).body.responseCode).toBe('00');
    expect(await held.waiters()).toBe(1);
    await held.release();
    const statuses = new Set((await flood).map(({ status }) => status));
    expect([...statuses].every((status) => status === 401 || status === 503)).toBe(true);
    expect((await device.upload()).body.responseCode).toBe('00');
  },
);

test('a token or code with ids that no device can have is refused, and with it no other call', async () => {
  for (const call of Object.values(MADE_UP)) {
    const calls = [4_000_000_000, 0].flatMap((shardId) => [call(shardId, 1), call(shardId, 9_999_999_999)]);
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual([401, 401, 401, 401]);
  }
});

test('a device is served one call at a time, and further ones wait or are refused', async () => {
  const rival = await given.database.db.startTransaction().execute();
  onTestFinished(() =>
    rival
      .rollback()
      .execute()
      .catch(() => {}),
  );
  await sql`select from devices for update`.execute(rival);
  const calls = Array.from({ length: 8 }, () => device.upload());
  expect((await Promise.race(calls)).body.responseCode).toBe('50');
  await waitForLockWaiters(given.database.db, 1);
  await rival.rollback().execute();
  const codes = (await Promise.all(calls)).map(({ body }) => body.responseCode);
  expect(codes.toSorted()).toEqual(['00', '00', '00', '00', '00', '50', '50', '50']);
});
