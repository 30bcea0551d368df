import { perform } from '@floodgate/audit';
import { revokeDeviceAction } from '@floodgate/door/actions';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, inject } from 'vitest';
import { apiTest } from '../harness/api-test.ts';
import { chromium } from '../harness/browser.ts';
import { addDevice, addGate } from '../harness/door-device.ts';
import { createFixture } from '../harness/fixture.ts';
import { finalizePending } from '../harness/journal.ts';
import { attendee, PartnerClient } from '../harness/partner-client.ts';
import { TcpProxy } from '../harness/tcp-proxy.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { Scanner } from './scanner.ts';
import { sell } from './sell.ts';

const { test, given } = apiTest({ own: 'finalizes everything in the database' });

/** Each takes a tenth of a second. A device uploads 500 in a call. */
const SCANS = inject('tier') === 'gate' ? 120 : 1_000;

test.override('ticket', { capacity: 1_000 });

// In a real browser; skipped without Chromium, but in CI.
describe.skipIf(!chromium && !process.env['CI'])('the scanner of the door', () => {
  let network: TcpProxy;
  let scanner: Scanner;
  let gate: number;

  /** Adds a device to the event, and enrols the scanner as this device. */
  async function enrol(gates = [gate]): Promise<number> {
    const { id, code } = await addDevice(given.database.db, given.gala.eventId, gates);
    await scanner.enrol(code);
    return id;
  }
  /** Returns the stored scans as `direction outcome`, in the order of the device. */
  const stored = async (deviceId: number) => {
    const { rows } = await sql<{ direction: string; outcome: string }>`
      select direction, outcome from scans where device_id = ${deviceId} order by counter`.execute(
      given.database.db,
    );
    return rows.map(({ direction, outcome }) => `${direction} ${outcome}`);
  };
  const receives = (deviceId: number, scans: string[]) =>
    waitUntil(`the server has ${scans.join(', ')}`, async () => {
      const found = await stored(deviceId);
      return found.length === scans.length && (expect(found).toEqual(scans), true);
    });

  beforeEach(async () => {
    network = await TcpProxy.start(given.api.baseUrl);
    scanner = await Scanner.open(network.through(given.api.baseUrl));
    gate = await addGate(given.database.db, given.gala.eventId, { showsNames: true });
  });
  afterEach(async () => {
    await scanner.close();
    await network.stop();
  });

  test('a device enrols with a typed code; a wrong code is refused', async () => {
    const { code } = await addDevice(given.database.db, given.gala.eventId, [gate]);
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

  test('an enrolment code that is submitted again is ignored', async () => {
    const { id, code } = await addDevice(given.database.db, given.gala.eventId, [gate]);
    const submit = `code.value = ${JSON.stringify(code)}; document.querySelector('#enrol-form').requestSubmit();`;
    await scanner.visit();
    await scanner.shows('#enrol', 'Enrol');
    await scanner.evaluate(submit + submit);
    await scanner.shows('#connection', 'Online');
    await scanner.evaluate(submit);
    await scanner.scan((await sell(given)).pass, 'Admitted');
    expect(await stored(id)).toEqual(['in admitted']);
    const requests = "performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('/enrol'))";
    expect(await scanner.evaluate<number>(`${requests}.length`)).toBe(1);
  });

  test('a pass is admitted once, by its text, by hardware or by its reference', async () => {
    const device = await enrol();
    const [one, two] = [await sell(given), await sell(given)];
    await scanner.scan(one.pass, 'Admitted');
    await scanner.shows('#result', String(attendee(given.ticketId).fullName));
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

  test('a forged pass and a cancelled registration are refused', async () => {
    await enrol();
    const [{ pass }, cancelled] = [await sell(given), await sell(given)];
    await given.partner.cancel(cancelled.reference);
    await scanner.scan(`${pass.slice(0, -3)}${pass.at(-3) === '0' ? '1' : '0'}${pass.slice(-2)}`, 'Forged');
    await scanner.picture('forged');
    await scanner.scan(cancelled.pass, 'Cancelled');
  });

  test('a reference is found in any spelling', async () => {
    const device = await enrol();
    for (const spell of [
      (text: string) => text.toLowerCase(),
      (text: string) => ` ${text.replaceAll('-', ' – ')} `,
      (text: string) => text.replaceAll('1', '١'),
    ])
      await scanner.scan(spell((await sell(given)).reference), 'Admitted');
    await receives(device, ['in admitted', 'in admitted', 'in admitted']);
  });

  test('a pass or reference of another event is named with its date, and a made-up one is not', async () => {
    const other = await createFixture(given.database.db);
    await sql`
      update events set name = 'Winter Ball', starts_at = '2026-12-31T23:30:00Z', time_zone = 'Asia/Tokyo'
      where id = ${other.eventId}`.execute(given.database.db);
    const partner = new PartnerClient(given.api.baseUrl, other);
    const sold = await sell({ ...given, partner, gala: other, ticketId: await other.addTicket() });
    await enrol();
    for (const text of [sold.pass, sold.reference.toLowerCase()]) {
      await scanner.scan(text, 'Pass of another event');
      // By the zone of that event.
      await scanner.shows('#result', 'Winter Ball, Fri, 1 Jan 2027');
    }
    await scanner.scan(
      sold.reference.replace(/\d$/, (digit) => String((Number(digit) + 1) % 10)),
      'Unknown pass',
    );
    network.setMode('down');
    await scanner.scan(sold.pass, 'Pass of another event');
  });

  test.for([
    ['Europe/Berlin', '2030-06-01T16:00:00Z', 'from Sat 1 Jun, 18:00'],
    ['America/New_York', '2030-06-01T16:00:00Z', 'from Sat 1 Jun, 12:00'],
    ['Asia/Kolkata', '2030-06-01T20:00:00Z', 'from Sun 2 Jun, 01:30'],
  ] as const)(
    'before the gate opens, the scanner says when, in the zone %s',
    async ([zone, opensAt, text]) => {
      await sql`update events set time_zone = ${zone} where id = ${given.gala.eventId}`.execute(
        given.database.db,
      );
      gate = await addGate(given.database.db, given.gala.eventId, {
        area: 'late',
        opensAt: new Date(opensAt),
      });
      await enrol();
      await scanner.scan((await sell(given)).pass, 'Too early');
      await scanner.shows('#result', text);
    },
  );

  test('after a lost answer the enrolment is repeated with the same key, and it is the same device', async () => {
    const key = `new Promise((resolve) => {
      indexedDB.open('floodgate-door').onsuccess = ({ target: { result: db } }) => {
        db.transaction('facts').objectStore('facts').get('enrolment').onsuccess = ({ target: { result } }) => {
          db.close();
          resolve(result.publicKey);
        };
      };
    })`;
    const { id, code } = await addDevice(given.database.db, given.gala.eventId, [gate]);
    await scanner.visit();
    await scanner.shows('#enrol', 'Enrol this device');
    const created = await scanner.evaluate<string>(key);
    await scanner.reload();
    await scanner.shows('#enrol', 'Enrol this device');
    expect(await scanner.evaluate<string>(key)).toBe(created);
    network.setMode('swallow-answers');
    await scanner.enter('code', code.toLowerCase());
    await waitUntil('the server has enrolled the device', async () => {
      const { rows } = await sql`select from devices where id = ${id} and public_key is not null`.execute(
        given.database.db,
      );
      return rows.length === 1;
    });
    network.setMode('pass');
    await scanner.shows('#connection', 'Online');
    await scanner.scan((await sell(given)).pass, 'Admitted');
    expect(await stored(id)).toEqual(['in admitted']);
  });

  test('a device that the server does not know any more says so, while its scans wait', async () => {
    const device = await enrol();
    await scanner.shows('#revocations', 'less than a minute old');
    network.setMode('down');
    await scanner.scan((await sell(given)).pass, 'Admitted');
    // As after the restore of a backup.
    await sql`update devices set token_hash = null where id = ${device}`.execute(given.database.db);
    network.setMode('pass');
    await scanner.shows('#notice', 'The server does not accept this device: The token is not known');
    await scanner.shows('#notice', 'stay on this device. Tell the operator');
    await scanner.shows('#connection', 'Not accepted by the server');
    await scanner.picture('not-accepted');
  });

  test('a scan is undone within its time, and the pass is admitted again', async () => {
    const device = await enrol();
    const { pass } = await sell(given);
    await scanner.scan(pass, 'Admitted');
    await scanner.shows('#admitted', '1');
    await scanner.click('#undo');
    await scanner.shows('#result', 'Undone');
    await scanner.shows('#admitted', '0');
    expect(await scanner.evaluate<boolean>("document.querySelector('#undo').checkVisibility()")).toBe(false);
    await scanner.scan(pass, 'Admitted');
    await receives(device, ['in admitted', 'undo undone', 'in admitted']);
  });

  test('with the rule re-entry, a pass is admitted again after an exit', async () => {
    gate = await addGate(given.database.db, given.gala.eventId, { area: 'yard', entryRule: 're-entry' });
    const device = await enrol();
    const { pass } = await sell(given);
    await scanner.scan(pass, 'Admitted');
    await scanner.click('input[value=out]');
    await scanner.scan(pass, 'Exit');
    await scanner.shows('#inside', '0');
    await scanner.click('input[value=in]');
    await scanner.scan(pass, 'Admitted');
    await receives(device, ['in admitted', 'out exited', 'in admitted']);
  });

  test('a device with several gates chooses one, and can change it', async () => {
    const vip = await addGate(given.database.db, given.gala.eventId, {
      name: 'VIP',
      area: 'vip',
      tickets: [await given.gala.addTicket()],
    });
    await enrol([gate, vip]);
    const { pass } = await sell(given);
    await scanner.shows('#gates', 'VIP');
    await scanner.picture('gates');
    await scanner.click('#gate-list button:last-child');
    await scanner.shows('#gate-name', 'VIP');
    await scanner.scan(pass, 'Wrong gate');
    await scanner.click('#change-gate');
    await scanner.click('#gate-list button:first-child');
    await scanner.scan(pass, 'Admitted');
  });

  describe('offline', () => {
    /** Waits until the device knows the cancelled registrations. */
    const knowsRevocations = () => scanner.shows('#revocations', 'less than a minute old');

    test.for(['down', 'silent'] as const)(
      'with a network that is %s, the device decides itself, and uploads everything later',
      async (mode) => {
        const cancelled = await sell(given);
        await given.partner.cancel(cancelled.reference);
        await finalizePending(given.database.db, given.gala.shardId);
        const device = await enrol();
        await knowsRevocations();
        const [one, two] = [await sell(given), await sell(given)];
        network.setMode(mode);
        await scanner.scan(one.pass, 'Admitted');
        await scanner.shows('#result', 'Decided offline');
        await scanner.shows('#connection', 'Offline');
        await scanner.picture(`offline-${mode}`);
        await scanner.scan(one.pass, 'Already admitted');
        await scanner.scan(cancelled.pass, 'Cancelled');
        await scanner.scan(two.reference, 'Not checked');
        await scanner.shows('#result', 'Cannot check a reference without network. Scan the code.');
        expect(await scanner.evaluate<string>("document.querySelector('#result').className")).toBe('unsure');
        await scanner.picture('not-checked');
        await scanner.reload();
        await scanner.shows('#waiting', '5');
        await scanner.scan(one.pass, 'Already admitted');
        await scanner.scan(two.pass, 'Admitted');
        network.setMode('pass');
        await scanner.shows('#connection', 'Online');
        await scanner.shows('#waiting', 'All scans are uploaded');
        expect(await stored(device)).toEqual([
          'in superseded',
          'in admitted',
          'in already-admitted',
          'in cancelled',
          'in unknown',
          'in already-admitted',
          'in admitted',
        ]);
        await scanner.scan(two.pass, 'Already admitted');
        await scanner.shows('#admitted', '2');
      },
    );

    test('an undo and an exit count at once, and are uploaded', async () => {
      gate = await addGate(given.database.db, given.gala.eventId, { area: 'yard', entryRule: 're-entry' });
      const device = await enrol();
      await knowsRevocations();
      const { pass } = await sell(given);
      network.setMode('down');
      await scanner.scan(pass, 'Admitted');
      await scanner.click('#undo');
      await scanner.shows('#result', 'Undone');
      await scanner.scan(pass, 'Admitted');
      await scanner.scan(pass, 'Already admitted');
      await scanner.click('input[value=out]');
      await scanner.scan(pass, 'Exit');
      await scanner.click('input[value=in]');
      await scanner.scan(pass, 'Admitted');
      network.setMode('pass');
      // Otherwise the device tries again after 10 seconds.
      await scanner.reload();
      await scanner.shows('#waiting', 'All scans are uploaded');
      expect((await stored(device)).slice(-5)).toEqual([
        'undo undone',
        'in admitted',
        'in already-admitted',
        'out exited',
        'in admitted',
      ]);
    });

    test('a question that has no answer when the app is closed is undone', async () => {
      const device = await enrol();
      await knowsRevocations();
      const { pass } = await sell(given);
      network.setMode('swallow-answers');
      await scanner.enter('pass', pass);
      await waitUntil('the server has the question', async () => (await stored(device)).length === 1);
      // Within the second in which the device waits for the answer.
      await scanner.reload();
      network.setMode('pass');
      await scanner.shows('#waiting', 'All scans are uploaded');
      expect((await stored(device)).at(-1)).toBe('undo undone');
      await scanner.scan(pass, 'Admitted');
    });

    test(`${SCANS} scans are uploaded`, async () => {
      const device = await enrol();
      await knowsRevocations();
      const { pass } = await sell(given);
      network.setMode('down');
      for (let count = 0; count < SCANS; count += 1) await scanner.enter('pass', pass);
      await scanner.shows('#waiting', String(SCANS + 1));
      network.setMode('pass');
      await scanner.shows('#waiting', 'All scans are uploaded');
      expect(await stored(device)).toHaveLength(SCANS + 1);
    });

    test('a scan that the server refuses blocks no other scan, and stays on the device', async () => {
      const device = await enrol();
      await knowsRevocations();
      network.setMode('down');
      const passes = [];
      for (let count = 0; count < 5; count += 1) passes.push((await sell(given)).pass);
      for (const pass of passes) await scanner.scan(pass, 'Admitted');
      await scanner.shows('#waiting', '6');
      await scanner.spoil(4);
      await scanner.reload();
      network.setMode('pass');
      await scanner.shows('#waiting', 'All scans are uploaded');
      await scanner.shows('#refusal', 'did not accept scan 4');
      await scanner.picture('refusal');
      expect(await stored(device)).toHaveLength(5);
      expect(await scanner.evaluate('indexedDB.databases().then(({ length }) => length)')).toBe(1);
    });
  });

  test('after the end of the shift the scanner is locked, until it is resumed', async () => {
    const device = await enrol();
    const { pass } = await sell(given);
    await scanner.scan(pass, 'Admitted');
    await scanner.click('#sign-off');
    await scanner.shows('#device', 'Resume');
    await scanner.picture('signed-off');
    await scanner.typeAsHardware(pass);
    const signedOff = given.database.db
      .selectFrom('devices')
      .select('signed_off_at')
      .where('id', '=', device);
    const isSignedOff = async () => (await signedOff.executeTakeFirstOrThrow()).signed_off_at !== null;
    expect(await isSignedOff()).toBe(true);
    await scanner.reload();
    await scanner.click('#resume');
    await waitUntil('the server knows that it is resumed', async () => !(await isSignedOff()));
    await scanner.scan(pass, 'Already admitted');
    await receives(device, ['in admitted', 'in already-admitted']);
  });

  test('a revoked device erases everything', async () => {
    const deviceId = await enrol();
    await scanner.scan((await sell(given)).pass, 'Admitted');
    const names = 'indexedDB.databases().then((all) => all.map(({ name }) => name))';
    expect(await scanner.evaluate<string[]>(names)).toEqual(['floodgate-door']);
    await perform(given.database.db, revokeDeviceAction, { eventId: given.gala.eventId, deviceId }, 'tests');
    await scanner.enter('pass', (await sell(given)).pass);
    await scanner.shows('#notice', 'This device was revoked');
    await scanner.picture('revoked');
    expect(await scanner.evaluate<string[]>(names)).toEqual([]);
    expect(await scanner.evaluate<string[]>('caches.keys()')).toEqual([]);
    expect(await scanner.text('body')).not.toContain(String(attendee(given.ticketId).fullName));
    await scanner.reload();
    await scanner.shows('#enrol', 'Enrol this device');
  });

  test('of two tabs, one scans; the other continues when it is closed', async () => {
    await enrol();
    await scanner.visit('/health/live');
    // A browser opens one window for each click.
    const expression = "(globalThis.tabs ??= []).push(window.open('/door/'))";
    for (const _tab of [1, 2]) await scanner.page.send('Runtime.evaluate', { expression, userGesture: true });
    const texts = () => scanner.evaluate<string[]>('tabs.map((tab) => tab.document.body?.innerText ?? "")');
    const [isOpen, isRefused] = ['Ready to scan', 'open in another tab'];
    const shown = await waitUntil('one tab scans, the other refuses', async () => {
      const both = (await texts()).map((text) =>
        text.includes(isRefused) ? isRefused : text.includes(isOpen) && isOpen,
      );
      return both.every(Boolean) && both;
    });
    expect(new Set(shown)).toEqual(new Set([isOpen, isRefused]));
    await scanner.evaluate(`tabs[${shown.indexOf(isOpen)}].close()`);
    const waiting = `tabs[${shown.indexOf(isRefused)}].document.body.innerText`;
    await waitUntil('the other tab scans', async () =>
      (await scanner.evaluate<string>(waiting)).includes(isOpen),
    );
  });
});
