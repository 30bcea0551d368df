import { perform } from '@floodgate/audit';
import { createGateAction, revokeDeviceAction } from '@floodgate/door/actions';
import { doorOperations } from '@floodgate/door/console';
import { COMMAND_LINE } from '@floodgate/operators';
import { sql } from 'kysely';
import { beforeEach, describe, expect } from 'vitest';
import { apiTest } from '../harness/api-test.ts';
import { addDevice, addGate, DoorDevice, enrolledDevice, type Outcome } from '../harness/door-device.ts';
import { expectFailure } from '../harness/expect-failure.ts';
import { finalizePending, journalOf } from '../harness/journal.ts';
import { waitForLockWaiters } from '../harness/lock-waiters.ts';
import { attendee } from '../harness/partner-client.ts';

const { test, given } = apiTest({ own: 'finalizes everything in the database' });

test.override('ticket', { capacity: 100 });

let gate: number;
let device: DoorDevice;

const enrol = (gates = [gate], name?: string) =>
  enrolledDevice(given.database.db, given.api.baseUrl, given.gala.eventId, gates, name);

/** Registers somebody. Resolves to the pass reference and the pass. */
async function sell(ticket = given.ticketId) {
  const reference = (await given.partner.register(attendee(ticket))).body.responseData as string;
  await finalizePending(given.database.db, given.gala.shardId);
  const { pass } = (await given.partner.pass(reference)).body.responseData as { pass: string };
  return { reference, pass };
}
const admissionsOf = async (reference: string) => {
  const { body } = await given.partner.request(`/api/v1/events/registrations/${reference}/admissions`);
  return (body.responseData as { admissions: { gate: string; state: string; dateLeft: string | null }[] })
    .admissions;
};
const report = () =>
  doorOperations.doorReport(given.database.db, { eventId: given.gala.eventId }, COMMAND_LINE);
const kinds = async () => {
  await finalizePending(given.database.db, given.gala.shardId);
  return (await journalOf(given.database.db, given.gala))
    .map(({ kind }) => kind)
    .filter((kind) => kind.startsWith('admitted'));
};

beforeEach(async () => {
  gate = await addGate(given.database.db, given.gala.eventId);
  device = await enrol();
});

test('a pass is admitted once, by its text or its reference, and the partner sees when and where', async () => {
  const { reference, pass } = await sell();
  const admitted = await device.scan(pass, gate);
  expect(admitted).toMatchObject({ outcome: 'admitted', name: null, ticket: 'Standing', first: null });
  const again = await device.scan(reference, gate);
  expect(again).toMatchObject({
    outcome: 'already-admitted',
    first: { gate: 'Main entrance', device: 'Scanner' },
  });
  expect(await admissionsOf(reference)).toEqual([
    expect.objectContaining({ gate: 'Main entrance', state: 'admitted', dateLeft: null }),
  ]);
  expect(await kinds()).toEqual(['admitted']);
});

test('of many devices that scan one pass at once, one admits it', async () => {
  const { pass } = await sell();
  const devices = await Promise.all(Array.from({ length: 5 }, () => enrol()));
  const outcomes = await Promise.all(devices.map(async (one) => (await one.scan(pass, gate)).outcome));
  expect(outcomes.toSorted()).toEqual(['admitted', ...Array.from({ length: 4 }, () => 'already-admitted')]);
});

describe('a pass is refused', () => {
  test('if it was cancelled', async () => {
    const { reference, pass } = await sell();
    await given.partner.cancel(reference);
    expect((await device.scan(pass, gate)).outcome).toBe('cancelled');
  });

  test('at a gate that does not admit its ticket, and at a gate of other devices', async () => {
    const { pass } = await sell();
    const other = await given.gala.addTicket();
    const vip = await addGate(given.database.db, given.gala.eventId, {
      name: 'VIP',
      area: 'vip',
      tickets: [other],
    });
    const both = await enrol([gate, vip]);
    expect((await both.scan(pass, vip)).outcome).toBe('wrong-gate');
    expect((await device.scan(pass, vip)).outcome).toBe('wrong-gate');
    expect((await both.scan(pass, gate)).outcome).toBe('admitted');
  });

  test('before the gate opens and after it closes', async () => {
    const { pass } = await sell();
    const [before, after] = [-1, 1].map((hours) => new Date(Date.now() + hours * 3_600_000));
    const early = await addGate(given.database.db, given.gala.eventId, { opensAt: after! });
    const late = await addGate(given.database.db, given.gala.eventId, { closesAt: before! });
    const both = await enrol([early, late]);
    expect((await both.scan(pass, early)).outcome).toBe('too-early');
    expect((await both.scan(pass, late)).outcome).toBe('too-late');
  });

  test('if it is forged, of another event, a wrong reference or no pass at all', async () => {
    const { reference, pass } = await sell();
    const forged = `${pass.slice(0, -3)}${pass.at(-3) === '0' ? '1' : '0'}${pass.slice(-2)}`;
    expect((await device.scan(forged, gate)).outcome).toBe('invalid-signature');
    const wrong = reference.replace(/\d$/, (digit) => String((Number(digit) + 1) % 10));
    for (const text of [wrong, reference.replace(String(given.gala.eventId), '1'), 'https://example.com/42'])
      expect((await device.scan(text, gate)).outcome, text).toBe('unknown');
    expect((await device.scan(pass, gate)).outcome).toBe('admitted');
  });
});

test('names are shown only where the gate shows them, and only for a question', async () => {
  const { pass } = await sell();
  const open = await addGate(given.database.db, given.gala.eventId, { area: 'named', showsNames: true });
  const named = await enrol([open]);
  expect((await named.scan(pass, open)).name).toBe(attendee(given.ticketId).fullName);
  expect((await named.scan(pass, open, { decision: 'already-admitted' })).name).toBeNull();
});

test('an exit lets the pass in again only with the rule re-entry', async () => {
  const { pass } = await sell();
  const again = await addGate(given.database.db, given.gala.eventId, { area: 'yard', entryRule: 're-entry' });
  const any = await addGate(given.database.db, given.gala.eventId, { area: 'bar', entryRule: 'any' });
  const all = await enrol([gate, again, any]);
  const passes = async (at: number, ...directions: ('in' | 'out')[]) => {
    const outcomes = [];
    for (const direction of directions) outcomes.push((await all.scan(pass, at, { direction })).outcome);
    return outcomes;
  };
  expect(await passes(gate, 'in', 'out', 'in')).toEqual(['admitted', 'exited', 'already-admitted']);
  expect(await passes(again, 'in', 'in', 'out', 'in')).toEqual([
    'admitted',
    'already-admitted',
    'exited',
    'admitted',
  ]);
  expect(await passes(any, 'in', 'in')).toEqual(['admitted', 'admitted']);
  const inside = async () => (await report()).gates.find(({ id }) => id === any)?.inside;
  expect(await inside()).toBe(2);
  await passes(any, 'out');
  expect(await inside()).toBe(0);
});

test('an undone scan does not count', async () => {
  const { reference, pass } = await sell();
  await device.scan(pass, gate);
  expect((await device.scan(pass, gate, { direction: 'undo', of: 1 })).outcome).toBe('undone');
  expect((await device.scan(pass, gate)).outcome).toBe('admitted');
  expect((await admissionsOf(reference)).map(({ state }) => state)).toEqual(['undone', 'admitted']);
});

describe('offline', () => {
  test('a device that got no answer decides itself; the pass is admitted once', async () => {
    const { reference, pass } = await sell();
    await device.scan(pass, gate);
    expect((await device.scan(pass, gate, { of: 1, decision: 'admitted' })).outcome).toBe('admitted');
    expect((await admissionsOf(reference)).map(({ state }) => state)).toEqual(['admitted']);
    const { outcomes } = (await device.upload()).body.responseData as { outcomes: Outcome[] };
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(['superseded', 'admitted']);
    expect(await kinds()).toEqual(['admitted']);
  });

  test('of two devices that let one pass in, the first scan counts, in whatever order they are received', async () => {
    const { reference, pass } = await sell();
    const other = await enrol([gate], 'Other');
    other.clockErrorMs = 600_000;
    const scannedAt = new Date(Date.parse(other.now()) - 1_000).toISOString();
    other.append(pass, gate, { scannedAt, decision: 'admitted' });
    device.append(pass, gate, { decision: 'admitted' });
    await device.upload();
    expect(await kinds()).toEqual(['admitted']);
    await other.upload();
    expect(await kinds()).toEqual(['admitted', 'admitted', 'admitted_again']);
    expect((await admissionsOf(reference)).map(({ state }) => state)).toEqual(['admitted', 'again']);
    const { conflicts } = await report();
    expect(conflicts).toEqual([
      expect.objectContaining({
        passReference: reference,
        first: expect.objectContaining({ device: 'Other' }),
        again: expect.objectContaining({ device: 'Scanner' }),
      }),
    ]);
  });

  test('a late exit ends a conflict that was none', async () => {
    const { pass } = await sell();
    const yard = await addGate(given.database.db, given.gala.eventId, {
      area: 'yard',
      entryRule: 're-entry',
    });
    const [one, two, three] = [await enrol([yard]), await enrol([yard]), await enrol([yard])];
    const at = (seconds: number) => new Date(Date.now() - 60_000 + seconds * 1_000).toISOString();
    one.append(pass, yard, { scannedAt: at(1), decision: 'admitted' });
    two.append(pass, yard, { scannedAt: at(2), direction: 'out', decision: 'exited' });
    three.append(pass, yard, { scannedAt: at(3), decision: 'admitted' });
    await three.upload();
    await one.upload();
    expect((await report()).conflicts).toHaveLength(1);
    await two.upload();
    expect((await report()).conflicts).toEqual([]);
  });
});

describe('the report is complete', () => {
  test('only when every device has signed off and every scan has arrived', async () => {
    const { pass } = await sell();
    expect((await report()).open).toEqual([expect.stringContaining('has not signed off')]);
    const [first, second] = [device.append(pass, gate), device.append(pass, gate)];
    await device.upload([second]);
    await device.signOff();
    expect((await report()).open).toEqual([expect.stringContaining('scans 1 are missing')]);
    await device.upload([first]);
    await device.signOff();
    expect(await report()).toMatchObject({ complete: true, open: [], except: [] });
  });

  test('not while a device has resumed, which can scan offline', async () => {
    await device.signOff();
    expect((await report()).complete).toBe(true);
    await device.resume();
    expect((await report()).open).toEqual([expect.stringContaining('has not signed off')]);
  });

  test('also if a device that has signed off is revoked, and one that was never enrolled', async () => {
    await device.scan((await sell()).pass, gate);
    await device.signOff();
    const { id } = await addDevice(given.database.db, given.gala.eventId, [gate]);
    for (const deviceId of [device.id, id])
      await perform(
        given.database.db,
        revokeDeviceAction,
        { eventId: given.gala.eventId, deviceId },
        'tests',
      );
    expect(await report()).toMatchObject({ complete: true, open: [], except: [] });
  });

  test('except for what a lost device may have scanned', async () => {
    await device.scan((await sell()).pass, gate);
    await perform(
      given.database.db,
      revokeDeviceAction,
      { eventId: given.gala.eventId, deviceId: device.id, lost: true },
      'tests',
    );
    const { complete, open, except } = await report();
    expect({ complete, open }).toEqual({ complete: false, open: [] });
    expect(except).toEqual([expect.stringContaining('is lost: scans after 1 are not known')]);
  });
});

test('of two gates of one area that are added at once, the second must have the entry rule of the first', async () => {
  const { db } = given.database;
  const { eventId } = given.gala;
  const first = await db.startTransaction().execute();
  const input = { eventId, name: 'One', area: 'yard', entryRule: 'once' } as const;
  await createGateAction.run(first, input, () => {}, 'tests');
  const second = addGate(db, eventId, { area: 'yard', entryRule: 'any' }).catch(String);
  await waitForLockWaiters(db, 1);
  await first.commit().execute();
  expect(await second).toContain('of the same area has the entry rule "once"');
});

describe('a device', () => {
  test('enrols once, with a code that is not used, and with its own key', async () => {
    const { code } = await addDevice(given.database.db, given.gala.eventId, [gate]);
    const thief = new DoorDevice(given.api.baseUrl);
    expectFailure(
      await thief.send('POST', '/enrol', {
        code,
        publicKey: 'A'.repeat(43),
        signature: thief.sign('enrol', code, 'A'.repeat(43)),
        version: '1',
      }),
      '20',
    );
    const owner = new DoorDevice(given.api.baseUrl);
    expect((await owner.enrol(code)).body.responseCode).toBe('00');
    expectFailure(await new DoorDevice(given.api.baseUrl).enrol(code), '20');
    expectFailure(await new DoorDevice(given.api.baseUrl).enrol(code.replace(/.$/, '2')), '20');
  });

  test('that enrols again with its code and key, after a lost answer, is the same device', async () => {
    const { id, code } = await addDevice(given.database.db, given.gala.eventId, [gate]);
    const [owner, { pass }] = [new DoorDevice(given.api.baseUrl), await sell()];
    await owner.enrol(code);
    await sql`update devices set code_expires_at = now() where id = ${id}`.execute(given.database.db);
    expect((await owner.enrol(code)).body.responseData).toMatchObject({ deviceID: id });
    expect((await owner.scan(pass, gate)).outcome).toBe('admitted');
    await owner.signOff();
    await device.signOff();
    expect((await report()).complete).toBe(true);
    await perform(
      given.database.db,
      revokeDeviceAction,
      { eventId: given.gala.eventId, deviceId: id },
      'tests',
    );
    expectFailure(await owner.enrol(code), '20');
  });

  test('can do nothing with a token without its key, or with an old signature', async () => {
    const stolen = {
      'x-door-signature': new DoorDevice(given.api.baseUrl).sign('GET', '/door/v1/state?counter=0', '1'),
    };
    expectFailure(await device.send('GET', '/state?counter=0', undefined, stolen), '20');
    const time = String(Date.now() - 120_000);
    const old = {
      'x-door-time': time,
      'x-door-signature': device.sign('GET', '/door/v1/state?counter=0', time),
    };
    expectFailure(await device.send('GET', '/state?counter=0', undefined, old), '20');
    expectFailure(await device.send('GET', '/state?counter=0', undefined, { authorization: 'Door x' }), '20');
  });

  test('that is revoked is refused with status 410', async () => {
    await perform(
      given.database.db,
      revokeDeviceAction,
      { eventId: given.gala.eventId, deviceId: device.id },
      'tests',
    );
    device.append('text', gate);
    expectFailure(await device.upload(), '20', 410);
  });

  test('gets its gates, the signed event and the keys', async () => {
    await device.scan((await sell()).pass, gate);
    const { gates, nextCounter, event, keys } = (await device.state()).body.responseData as Record<
      string,
      unknown
    >;
    expect(gates).toEqual([
      expect.objectContaining({ gateID: gate, entryRule: 'once', admitted: 1, inside: 1 }),
    ]);
    expect(nextCounter).toBe(2);
    expect([event, keys]).toEqual([expect.any(String), { keys: [expect.anything()] }]);
    expect((await device.send('GET', '/revocations?after=0')).body.responseCode).toBe('00');
  });

  test('cannot send another scan with a used counter, and the report says so', async () => {
    const { pass } = await sell();
    await device.scan(pass, gate);
    const forked = { ...device.scans[0]!, scannedAt: '2026-01-01T00:00:00.000Z' };
    expectFailure(await device.upload([forked]), '11');
    expect((await report()).except).toEqual([expect.stringContaining('two different scans 1')]);
    expect((await report()).gates[0]).toMatchObject({ admitted: 1 });
  });
});

test('the OpenAPI document lists the routes of devices', async () => {
  const document = (await (await fetch(`${given.api.baseUrl}/door/v1/openapi.json`)).json()) as {
    paths: Record<string, Record<string, { operationId: string }>>;
  };
  const ids = Object.values(document.paths).flatMap((path) =>
    Object.values(path).map(({ operationId }) => operationId),
  );
  expect(ids.toSorted()).toEqual([
    'enrol',
    'getState',
    'listRevocations',
    'recordScans',
    'resume',
    'signOff',
  ]);
});
