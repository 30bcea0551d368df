import { ConsoleConfig, startConsole } from '@floodgate/console';
import { loadConfig } from '@floodgate/service';
import { sql } from 'kysely';
import { decodeQR } from 'qr/decode.js';
import { afterAll, describe, expect, inject } from 'vitest';
import { BrowserOperator } from '../harness/browser-operator.ts';
import { chromium } from '../harness/browser.ts';
import { createBusyDoor } from '../harness/busy-door.ts';
import { consoleTest } from '../harness/console-test.ts';
import { addDevice, addGate } from '../harness/door-device.ts';
import { createFixture } from '../harness/fixture.ts';
import { startInProcessApi, type InProcessApi } from '../harness/in-process-api.ts';
import { keptLog } from '../harness/kept-log.ts';
import { underTest } from '../harness/service-roles.ts';
import { shownPage, textOf } from '../harness/shown-page.ts';
import { waitUntil } from '../harness/wait-until.ts';

const { test, given } = consoleTest();

/** Returns the address of the first link to a form whose address has these parts. */
const linkIn = (html: string, ...parts: string[]) =>
  Array.from(html.matchAll(/href="([^"]*)"/g), ([, href]) =>
    href!.replaceAll('&#61;', '=').replaceAll('&#38;', '&'),
  ).find((href) => parts.every((part) => href.includes(part)));

const show = (path: string, cookie: string) => shownPage(() => given.request(path, { headers: { cookie } }));

async function submit(id: string, fields: Record<string, string>, cookie: string): Promise<string> {
  const form = { method: 'POST', body: new URLSearchParams(fields), headers: { cookie } };
  return (await given.request(`/do/${id}`, form)).text();
}

test('pages show gates, devices, conflicts, refused scans and what is missing', async () => {
  const door = await createBusyDoor(given.database);
  const { cookie } = await given.addOperator('viewer');
  const path = `/events/${door.eventId}/door`;
  const [gates, devices, conflicts] = (
    await Promise.all([
      show(path, cookie),
      show(`${path}/devices`, cookie),
      show(`${path}/conflicts`, cookie),
    ])
  ).map(textOf) as [string, string, string];
  expect(gates).toContain('Seats that let in two people: 1.');
  expect(gates).toMatch(/Main entrance main Open all tickets each seat once 2 1/);
  expect(gates).toMatch(/Balcony balcony Open .*again after an exit 0 0/);
  expect(gates).toMatch(/Standing main 2 1/);
  expect(devices).toContain('The list of scans is not complete:');
  expect(devices).toContain('South: scans 2 are missing');
  expect(devices).toContain('South has not ended its shift after scan 3');
  expect(devices).toContain('Lost scanner is lost: scans after 0 are not known');
  expect(devices).toMatch(/North Main entrance Shift ended .* 2 mins behind 2 –/);
  expect(devices).toMatch(/South Main entrance Scanning .* right 3 1/);
  expect(devices).toMatch(/New scanner Main entrance Not enrolled code until [\d:]+ never – 0 –/);
  const pass = door.pass.replace(/\d{10}$/, '…');
  const side = `${pass} \\d+ \\w+, [\\d:]+ Main entrance, (North|South)`;
  expect(conflicts).toMatch(new RegExp(`${side} ${side}`));
  // The seat of the cancelled pass is free again, and a person is on it.
  expect(conflicts).toMatch(/Standing main 2 3 2/);
  expect(conflicts).toMatch(/… \d+ \w+, [\d:]+ Main entrance, North cancelled/);
  expect(conflicts).toMatch(/cancelled 1 1 .*unknown pass 1 1/);
  // A viewer changes nothing.
  expect(gates + devices + conflicts).not.toMatch(/Add a gate|Enrol a scanner/);
});

test('those who may see attendees get their names with the page, and nobody gets them in a stream', async () => {
  const { eventId, pass } = await createBusyDoor(given.database);
  const name = `Ada <b>Twice</b> & ${'x'.repeat(200)}`;
  await sql`update registrations set full_name = ${name} where event_id = ${eventId}`.execute(given.db);
  const path = `/events/${eventId}/door/conflicts`;
  const [manager, viewer] = [await given.addOperator('door-manager'), await given.addOperator('viewer')];
  const named = await show(path, manager.cookie);
  expect(named).toContain('Ada &#60;b&#62;Twice&#60;/b&#62; &#38; xxx');
  expect(named).toContain(`href="/people/${encodeURIComponent(pass)}"`);
  expect(await show(path, viewer.cookie)).not.toContain('Twice');
  const story = `/events/${eventId}/door/story?passReference=${encodeURIComponent(pass)}`;
  const told = textOf(await show(story, manager.cookie));
  expect(told).toContain('Ada &#60;b&#62;Twice');
  expect(told).toMatch(
    /Let in Main entrance (North|South) .*Let in a second time: a conflict Main entrance (North|South)/,
  );
  expect(textOf(await show(story, viewer.cookie))).toMatch(/GALA-\d+-\d+-… at the door/);
  const abort = new AbortController();
  const source = { headers: { cookie: manager.cookie }, signal: abort.signal };
  const { body } = await given.request(`${path}/events`, source);
  for await (const chunk of body!.pipeThrough(new TextDecoderStream())) {
    expect(textOf(chunk)).toContain('Conflicts known at');
    expect(chunk).not.toContain('Twice');
    break;
  }
  abort.abort();
});

test('the story of a pass of another event is not shown', async () => {
  const { pass } = await createBusyDoor(given.database);
  const { eventId } = await createFixture(given.db);
  const { cookie } = await given.addOperator('owner');
  const path = `/events/${eventId}/door/story?passReference=${encodeURIComponent(pass)}`;
  expect((await given.request(path, { headers: { cookie } })).status).toBe(404);
});

test('a device that should be in contact is silent, in words, on its page and beside its gate', async () => {
  const { eventId, gate } = await createBusyDoor(given.database);
  const { cookie } = await given.addOperator('viewer');
  await sql`
    update gates set opens_at = now() - interval '1 hour', closes_at = now() + interval '1 hour'
    where id = ${gate}`.execute(given.db);
  await sql`
    update devices set last_contact_at = now() - interval '7 minutes'
    where event_id = ${eventId} and name in ('North', 'South')`.execute(given.db);
  const gates = textOf(await show(`/events/${eventId}/door`, cookie));
  // North has ended its shift.
  expect(gates).toContain('At an open gate, but not in contact for five minutes: South.');
  const devices = textOf(await show(`/events/${eventId}/door/devices`, cookie));
  expect(devices).toContain('South Main entrance Silent silent for 7 minutes');
  expect(devices).toContain('North Main entrance Shift ended 7 minutes ago');
  await sql`update gates set opens_at = null, closes_at = now() where id = ${gate}`.execute(given.db);
  await waitUntil('no device is silent', async () => {
    const page = await show(`/events/${eventId}/door`, cookie);
    return !page.includes('not in contact');
  });
});

test('a device and a gate have a page with what can be done with them', async () => {
  const { eventId, gate } = await createBusyDoor(given.database);
  const { cookie } = await given.addOperator('operator');
  const path = `/events/${eventId}/door`;
  const devices = await show(`${path}/devices`, cookie);
  const pageOf = (name: string) => new RegExp(`href="(${path}/devices/\\d+)">${name}<`).exec(devices)![1]!;
  const south = await show(pageOf('South'), cookie);
  expect(textOf(south)).toContain('South: scans 2 are missing');
  const enrolled = await show(pageOf('New scanner'), cookie);
  expect(linkIn(enrolled, '/do/deviceCode?')).toBeDefined();
  expect(textOf(await show(pageOf('Lost scanner'), cookie))).toContain('out of service for good');
  const asked = textOf(await show(linkIn(south, '/do/deviceRevoke?', 'lost=true')!, cookie));
  expect(asked).toContain('South is refused from now on, and reported as lost.');
  expect(asked).toContain('1 are missing now');
  const ofGate = await show(`${path}/gates/${gate}`, cookie);
  expect(textOf(ofGate)).toContain('North');
  expect(linkIn(ofGate, '/do/gateUpdate?')).toBeDefined();
  expect((await given.request(`${path}/gates/999999999`, { headers: { cookie } })).status).toBe(404);
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
  await waitUntil('a snapshot', () => latest.includes('There are no gates yet'));
  await addGate(given.database.db, eventId, { name: 'Garden gate' });
  await waitUntil('the new gate', () => latest.includes('Garden gate Open all tickets each seat once 0 0'));
  abort.abort();
});

test('viewers with different languages get different snapshots', async () => {
  const { eventId } = await createFixture(given.database.db);
  const { cookie } = await given.addOperator('viewer');
  const abort = new AbortController();
  const first = async (language: string) => {
    const headers = { cookie: `${cookie}; floodgate_language=${language}` };
    const { body } = await given.request(`/events/${eventId}/door/events`, { headers, signal: abort.signal });
    for await (const chunk of body!.pipeThrough(new TextDecoderStream())) return textOf(chunk);
    return '';
  };
  expect(await Promise.all([first('en'), first('de')])).toEqual([
    expect.stringContaining('There are no gates yet'),
    expect.stringContaining('Es gibt noch keine Eingänge'),
  ]);
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
  expect(textOf(shown)).toContain('This code works once, for 10 minutes.');
  expect(textOf(shown)).not.toMatch(/secret/i);
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
  const paths = ['door', 'door/devices', 'door/conflicts'].flatMap((path) => [path, `${path}/events`]);
  for (const path of [...paths, 'door/gates/1', 'door/devices/1']) {
    expect((await given.request(`/events/${eventId}/${path}`, { headers })).status).toBe(403);
    expect((await given.request(`/events/999999/${path}`, { headers: { cookie } })).status).toBe(404);
  }
});

// In a real browser; skipped without Chromium, but in CI.
describe.skipIf(!chromium && !process.env['CI'])('in a browser', () => {
  let api: InProcessApi;
  let linked: Awaited<ReturnType<typeof startConsole>>;
  let operator: BrowserOperator;
  let door: Awaited<ReturnType<typeof createBusyDoor>>;

  test.beforeAll(async () => {
    api = await startInProcessApi({ DATABASE_URL: given.database.url });
    const env = { DATABASE_URL: given.database.url, CONSOLE_PORT: '0', DOOR_URL: `${api.baseUrl}/door/` };
    linked = await startConsole(loadConfig(ConsoleConfig, underTest('console', env)), keptLog('console').log);
    door = await createBusyDoor(given.database);
    operator = await BrowserOperator.open(linked.baseUrl, (await given.addOperator('owner')).session);
  });
  afterAll(async () => {
    await operator.close();
    await linked.disposeAsync();
    await api.close();
  });

  test('a scanner is enrolled by the link in the picture, which leaves no trace in the address', async () => {
    // Any page of the event has its tabs.
    await operator.visit(`/events/${door.eventId}/reports`);
    await operator.activate('Door');
    await operator.activate('Enrol a scanner');
    await operator.type('name', 'Phone of Bo');
    expect(await operator.violations()).toEqual([]);
    await operator.picture('enrol-form');
    await operator.activate('Make the code');
    expect(await operator.violations()).toEqual([]);
    await operator.picture('enrol-code');
    const code = (await operator.text('.code')).trim();
    const link = `${api.baseUrl}/door/#code=${code}`;
    expect(await qrOf(operator)).toBe(link);
    await operator.page.send('Page.navigate', { url: link });
    await waitUntil('the scanner is enrolled', () =>
      operator.evaluate<boolean>(
        "document.querySelector('#connection')?.innerText.includes('Online') ?? false",
      ),
    );
    expect(await operator.evaluate<string>('location.href')).toBe(`${api.baseUrl}/door/`);
    await operator.picture('scanner');
    // Another code is not used, and does not stay in the address either.
    const { code: other } = await addDevice(given.db, door.eventId, [door.gate], 'Another');
    await operator.page.send('Page.navigate', { url: 'about:blank' });
    await operator.page.send('Page.navigate', { url: `${api.baseUrl}/door/#code=${other}` });
    await waitUntil('the scanner says so', () =>
      operator.evaluate<boolean>(
        "document.querySelector('#notice')?.innerText.includes('enrolled already, as Phone of Bo') ?? false",
      ),
    );
    expect(await operator.evaluate<string>('location.href')).toBe(`${api.baseUrl}/door/`);
    await operator.visit(`/events/${door.eventId}/door/devices`);
    expect(await operator.text()).toMatch(/Phone of Bo\s+Main entrance, Balcony|Phone of Bo[\s\S]*Scanning/);
  });

  test('without the address of the scanner, the picture has the code alone', async () => {
    const plain = await BrowserOperator.open(given.consoleUrl, (await given.addOperator('owner')).session);
    await plain.visit(`/events/${door.eventId}/door`);
    await plain.activate('Enrol a scanner');
    await plain.type('name', 'Typed');
    await plain.activate('Make the code');
    expect(await qrOf(plain)).toBe((await plain.text('.code')).trim());
    await plain.close();
  });

  test('a page of doors that is open gets new counts, and the focus stays on a link in a table', async () => {
    await operator.visit(`/events/${door.eventId}/door`);
    await operator.evaluate(
      `[...document.querySelectorAll('#live a')].find((one) => one.innerText === 'Balcony').focus()`,
    );
    await addGate(given.database.db, door.eventId, { name: 'Garden gate' });
    await waitUntil('the gate is shown', () =>
      operator.evaluate<boolean>(`document.querySelector('#live').innerText.includes('Garden gate')`),
    );
    expect(await operator.evaluate<string>('document.activeElement.innerText')).toBe('Balcony');
  });

  const looks = [
    [1280, 'light', 'en'],
    [390, 'dark', 'de'],
    [1280, 'dark', 'de'],
    [390, 'light', 'en'],
  ] as const;
  test.for(inject('tier') === 'gate' ? looks.slice(0, 2) : looks)(
    'with 300 devices and 40 tickets, every page is accessible at %i pixels, %s, %s',
    async ([width, scheme, language]) => {
      const big = await createBigDoor();
      await operator.resize(width, scheme);
      await operator.setCookie('floodgate_language', language);
      const path = `/events/${big.eventId}/door`;
      const pages = {
        gates: path,
        devices: `${path}/devices`,
        conflicts: `/events/${door.eventId}/door/conflicts`,
        story: `/events/${door.eventId}/door/story?passReference=${door.pass}`,
        gate: `${path}/gates/${big.gates[0]}`,
        device: `${path}/devices/${big.device}`,
        revoke: `/do/deviceRevoke?eventId=${big.eventId}&deviceId=${big.device}&lost=true`,
        'change-gate': `/do/gateUpdate?eventId=${big.eventId}&gateId=${big.gates[0]}`,
        'add-gate': `/do/gateCreate?eventId=${big.eventId}`,
      };
      const found: Record<string, string[]> = {};
      for (const [title, at] of Object.entries(pages)) {
        await operator.visit(at);
        const broken = await operator.violations();
        if (broken.length > 0) found[title] = broken;
        await operator.picture(`door-${title}-${width}-${scheme}-${language}`);
      }
      expect(found).toEqual({});
      expect(operator.refusedByPolicy()).toEqual([]);
    },
  );

  /** Creates an event with many tickets, gates and devices. */
  async function createBigDoor() {
    const fixture = await createFixture(given.db);
    const { eventId, shardId } = fixture;
    const tickets: number[] = [];
    for (let number = 1; number <= 40; number++)
      tickets.push(await fixture.addTicket({ title: `Block ${number} ‏שלום ${'w'.repeat(number)}` }));
    const gates = [
      await addGate(given.db, eventId, {
        name: `Main <i>entrance</i> ${'long '.repeat(40)}`.trim(),
        tickets: tickets.slice(3),
      }),
      await addGate(given.db, eventId, {
        name: 'Lounge',
        area: 'lounge',
        entryRule: 're-entry',
        tickets: tickets.slice(0, 2),
      }),
    ];
    const { id: device } = await addDevice(given.db, eventId, gates);
    await sql`
      insert into devices (shard_id, event_id, name, gates, code_expires_at, public_key, version, last_contact_at,
        skew_ms, last_counter, received)
      select ${shardId}, ${eventId}, 'Scanner ' || n, ${gates}, now(), '\\x00', '1.0', now() - n * interval '3 seconds',
        n * 20, n, n - n % 3
      from generate_series(1, 300) n`.execute(given.db);
    return { eventId, gates, device };
  }
});

/** Returns the text of the picture that a page shows, as a camera reads it. */
async function qrOf(operator: BrowserOperator) {
  await waitUntil('the picture', () =>
    operator.evaluate<boolean>("document.querySelector('img.qr')?.complete ?? false"),
  );
  const pixels = await operator.evaluate<number[]>(`(() => {
    const context = new OffscreenCanvas(480, 480).getContext('2d');
    context.fillStyle = getComputedStyle(document.querySelector('img.qr')).backgroundColor;
    context.fillRect(0, 0, 480, 480);
    context.drawImage(document.querySelector('img.qr'), 0, 0, 480, 480);
    return [...context.getImageData(0, 0, 480, 480).data];
  })()`);
  return decodeQR({ width: 480, height: 480, data: Uint8ClampedArray.from(pixels) });
}
