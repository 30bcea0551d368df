import { perform } from '@floodgate/audit';
import { revokeDeviceAction } from '@floodgate/door/actions';
import { afterEach, beforeEach, describe, expect } from 'vitest';
import { api, database, gala, partner, test, ticketId } from '../harness/api-test.ts';
import { chromium } from '../harness/browser.ts';
import { addDevice, addGate } from '../harness/door-device.ts';
import { finalizePending } from '../harness/journal.ts';
import { attendee } from '../harness/partner-client.ts';
import { TcpProxy } from '../harness/tcp-proxy.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { Scanner } from './scanner.ts';

test.override('ticket', { capacity: 1_000 });

/** Registers somebody. Resolves to the pass reference and the pass. */
async function sell() {
  const reference = (await partner.register(attendee(ticketId))).body.responseData as string;
  await finalizePending(database.db, gala.shardId);
  const { pass } = (await partner.pass(reference)).body.responseData as { pass: string };
  return { reference, pass };
}

// In a real browser; skipped without Chromium, but in CI.
describe.skipIf(!chromium && !process.env['CI'])('the scanner of the door', () => {
  let network: TcpProxy;
  let scanner: Scanner;
  let gate: number;

  /** Adds a device to the event, and enrols the scanner as this device. */
  async function enrol(gates = [gate]): Promise<number> {
    const { id, code } = await addDevice(database.db, gala.eventId, gates);
    await scanner.enrol(code);
    return id;
  }
  /** Returns the stored scans as `direction outcome`, in the order of the device. */
  const stored = async (deviceId: number) => {
    const scans = database.db.selectFrom('scans').select(['direction', 'outcome']);
    const rows = await scans.where('device_id', '=', deviceId).orderBy('counter').execute();
    return rows.map(({ direction, outcome }) => `${direction} ${outcome}`);
  };
  const receives = (deviceId: number, scans: string[]) =>
    waitUntil(`the server has ${scans.join(', ')}`, async () => {
      const found = await stored(deviceId);
      return found.length === scans.length && (expect(found).toEqual(scans), true);
    });

  beforeEach(async () => {
    network = await TcpProxy.start(api.baseUrl);
    scanner = await Scanner.open(network.through(api.baseUrl));
    gate = await addGate(database.db, gala.eventId, { showsNames: true });
  });
  afterEach(async () => {
    await scanner.close();
    await network.close();
  });

  test('a device enrols with a typed code; a wrong code is refused', async () => {
    const { code } = await addDevice(database.db, gala.eventId, [gate]);
    await scanner.visit();
    await scanner.enter('code', 'wrong');
    await scanner.shows('#notice', 'The code is unknown');
    await scanner.picture('enrol');
    await scanner.enter('code', code);
    await scanner.shows('#gate-name', 'Main entrance');
    await scanner.shows('#connection', 'Online');
    await scanner.reload();
    await scanner.shows('#gate-name', 'Main entrance');
  });

  test('a pass is admitted once, by its text, by hardware or by its reference', async () => {
    const device = await enrol();
    const [one, two] = [await sell(), await sell()];
    await scanner.scan(one.pass, 'Admitted');
    await scanner.shows('#result', attendee(ticketId).fullName);
    await scanner.shows('#result', 'Standing');
    await scanner.picture('admitted');
    await scanner.typeAsHardware(one.pass);
    await scanner.shows('#result', 'Already admitted');
    await scanner.shows('#result', 'Main entrance, Scanner');
    await scanner.typeAsHardware(two.reference);
    await scanner.shows('#admitted', '2');
    await scanner.scan('https://example.com/menu', 'Unknown pass');
    expect(await stored(device)).toEqual(['in admitted', 'in already-admitted', 'in admitted', 'in unknown']);
  });
});
