import { expect } from 'vitest';
import { addGate } from '../harness/door-device.ts';
import { createBusyDoor } from '../harness/busy-door.ts';
import { consoleTest } from '../harness/console-test.ts';
import { createFixture } from '../harness/fixture.ts';
import { waitUntil } from '../harness/wait-until.ts';

const { test, given } = consoleTest();

const textOf = (html: string) => html.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ');

async function show(path: string, cookie: string): Promise<string> {
  return (await given.request(path, { headers: { cookie } })).text();
}

async function submit(id: string, fields: Record<string, string>, cookie: string): Promise<string> {
  const form = { method: 'POST', body: new URLSearchParams(fields), headers: { cookie } };
  return (await given.request(`/do/${id}`, form)).text();
}

test('pages show gates, devices, conflicts, refused scans and what is missing', async () => {
  const door = await createBusyDoor(given.database);
  const { cookie } = await given.addOperator('viewer');
  const pages = ['door', 'door/devices', 'door/conflicts'].map((path) =>
    show(`/events/${door.eventId}/${path}`, cookie),
  );
  const texts = (await Promise.all(pages)).map(textOf);
  for (const one of texts) expect(one).toContain('Seats that were admitted twice: 1');
  const text = texts.join(' ');
  expect(text).toContain('The list of scans is not complete .');
  expect(text).toContain(`${door.open}: scans 2 are missing ${door.open} has not signed off after scan 3`);
  expect(text).toContain(`${door.lost} is lost: scans after 0 are not known`);
  expect(text).toMatch(/Main entrance 2 1 main once all – –/);
  expect(text).toMatch(/North signed off 2 2 0 – \S+ \S+ UTC -90\.\d s test/);
  expect(text).toMatch(/South active 3 2 0 2 \S+ \S+ UTC -?0\.\d s test/);
  expect(text).toMatch(/New scanner not enrolled 0 0 0 – – – –/);
  const pass = door.pass.replace(/\d{10}$/, '…');
  const side = `${pass} (main )?\\S+ \\S+ UTC Main entrance (North|South)`;
  expect(text).toMatch(new RegExp(`${side} ${side}`));
  // The seat of the cancelled pass is free again, and a person is on it.
  expect(text).toMatch(/Standing main 2 3 2/);
  expect(text).toMatch(/…\s+cancelled \S+ \S+ UTC main Main entrance North/);
  expect(text).toMatch(/cancelled 1 1 .*unknown 1 1/);
  // A viewer changes nothing.
  expect(text).not.toMatch(/Add a|Change Main|Revoke/);
});

test('the page changes without a reload', async () => {
  const { eventId } = await createFixture(given.database.db);
  const { cookie } = await given.addOperator('viewer');
  const abort = new AbortController();
  const source = { headers: { cookie }, signal: abort.signal };
  const { body } = await given.request(`/events/${eventId}/door/events`, source);
  let latest = '';
  const read = async () => {
    for await (const chunk of body!.pipeThrough(new TextDecoderStream())) latest = textOf(chunk);
  };
  void read().catch(() => {});
  await waitUntil('a snapshot', () => latest.includes('Gates None'));
  await addGate(given.database.db, eventId, { name: 'Garden gate' });
  await waitUntil('the new gate', () => latest.includes('Garden gate 0 0 main'));
  abort.abort();
});

test('the code of a device is shown once, and is in no log', async () => {
  const { eventId } = await createFixture(given.database.db);
  const gates = String(await addGate(given.database.db, eventId));
  const { cookie } = await given.addOperator('operator');
  const input = { eventId: String(eventId), name: 'Scanner', gates };
  const shown = await submit('deviceCreate', input, cookie);
  const code = /<p class="code">(\S+)<\/p>/.exec(shown)![1]!;
  expect(code).toMatch(/^\d+-\d+-\w{5}-\w{5}$/);
  expect(textOf(shown)).toContain('it will not be shown again');
  const page = await show(`/events/${eventId}/door`, cookie);
  const [, deviceId] = code.split('-');
  const renewed = await submit('deviceCode', { eventId: String(eventId), deviceId: deviceId! }, cookie);
  expect(renewed).toContain('<p class="code">');
  expect(renewed).not.toContain(code);
  expect(page + (await show('/audit', cookie))).not.toContain(code);
});

test('nobody sees the doors without the right, and an unknown event has none', async () => {
  const { eventId } = await createFixture(given.database.db);
  const headers = { authorization: `Bearer ${await given.addToken('events:read')}` };
  const { cookie } = await given.addOperator('viewer');
  for (const path of ['door', 'door/events', 'door/devices', 'door/devices/events', 'door/conflicts']) {
    expect((await given.request(`/events/${eventId}/${path}`, { headers })).status).toBe(403);
    expect((await given.request(`/events/999999/${path}`, { headers: { cookie } })).status).toBe(404);
  }
});
