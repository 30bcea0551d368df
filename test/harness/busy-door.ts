import { perform } from '@floodgate/audit';
import { revokeDeviceAction } from '@floodgate/door/actions';
import type { TestDatabase } from './database.ts';
import { addDevice, addGate, enrolledDevice } from './door-device.ts';
import { createFixture } from './fixture.ts';
import { startInProcessApi } from './in-process-api.ts';
import { attendee, PartnerClient } from './partner-client.ts';

/**
 * Creates an event whose doors have everything that a report can show: North and South let the same pass in
 * offline, scan 2 of South is missing, North let a cancelled pass in and has signed off, one device is lost,
 * and one is not enrolled.
 */
export async function createBusyDoor({ db, url }: TestDatabase) {
  const api = await startInProcessApi({ DATABASE_URL: url });
  try {
    const gala = await createFixture(db);
    const { eventId } = gala;
    const partner = new PartnerClient(api.baseUrl, gala);
    const ticketId = await gala.addTicket();
    const [twice, cancelled, other] = (await Promise.all(
      [1, 2, 3].map(async () => (await partner.register(attendee(ticketId))).body.responseData),
    )) as [string, string, string];
    const gate = await addGate(db, eventId);
    await addGate(db, eventId, {
      name: 'Balcony',
      area: 'balcony',
      tickets: [ticketId],
      entryRule: 're-entry',
    });
    const add = (name: string) => enrolledDevice(db, api.baseUrl, eventId, [gate], name);
    const [north, south, lost] = [await add('North'), await add('South'), await add('Lost scanner')];
    north.clockErrorMs = -90_000;
    await partner.cancel(cancelled);
    for (const pass of [twice, cancelled]) north.append(pass, gate, { decision: 'admitted' });
    for (const pass of [twice, other, 'no pass']) south.append(pass, gate, { decision: 'admitted' });
    await north.upload();
    await north.signOff();
    await south.upload([south.scans[0]!]);
    await south.upload([south.scans[2]!]);
    await perform(db, revokeDeviceAction, { eventId, deviceId: lost.id, lost: true }, 'tests');
    await addDevice(db, eventId, [gate], 'New scanner');
    return {
      eventId,
      gate,
      deviceId: south.id,
      pass: twice,
      open: `device ${south.id} (South)`,
      lost: `device ${lost.id} (Lost scanner)`,
    };
  } finally {
    await api.close();
  }
}
