import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect } from 'vitest';
import { apiTest } from '../harness/api-test.ts';
import { chromium } from '../harness/browser.ts';
import { addDevice, addGate } from '../harness/door-device.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { Scanner, usKey, type HardwareKey } from './scanner.ts';
import { sell } from './sell.ts';

const { test, given } = apiTest({ own: 'finalizes everything in the database' });

test.override('ticket', { capacity: 1_000 });

/** Returns a keyboard whose keys have other characters than those of a US keyboard at the same positions. */
const layout =
  (characters: Record<string, string>) =>
  (character: string): HardwareKey => {
    const key = usKey(character);
    return { ...key, key: characters[character] ?? key.key };
  };
const rowOf = (us: string, other: string) =>
  Object.fromEntries(us.split('').map((character, index) => [character, other[index]!]));

/** The layout of the device. The scanner types as on a US keyboard, apart from the last ones. */
const LAYOUTS: Record<string, (character: string) => HardwareKey> = {
  US: usKey,
  'US with Caps Lock': (character) => ({ ...usKey(character), key: usKey(character).key.toLowerCase() }),
  AZERTY: layout(rowOf('QAZWM1234567890-.', 'AQWZ?&é"\'(-è_çà):')),
  QWERTZ: layout(rowOf('YZ-', 'ZYß')),
  Cyrillic: layout(rowOf('FGALEQRTUIOPSDHJKN', 'АПФДУЙКЕГШЩЗЫВРОЛТ')),
  'an editor for other scripts': (character) => ({ ...usKey(character), key: 'Process' }),
  'QWERTZ, as the scanner': (character) => {
    const position = { Y: 'KeyZ', Z: 'KeyY', '-': 'Slash' }[character];
    return { ...usKey(character), ...(position && { code: position }) };
  },
  'AZERTY, as the scanner': (character) => {
    const position = rowOf('AQWZ', 'QAZW')[character];
    const digit = /\d/.test(character);
    const code = { '-': 'Digit6', '.': 'Comma', M: 'Semicolon' }[character] ?? (position && `Key${position}`);
    return { ...usKey(character), ...(code && { code }), ...(digit && { isShifted: true }) };
  },
};

// In a real browser; skipped without Chromium, but in CI.
describe.skipIf(!chromium && !process.env['CI'])('a hardware scanner', () => {
  let scanner: Scanner;
  let deviceId: number;

  beforeEach(async () => {
    scanner = await Scanner.open(given.api.baseUrl);
    // The clock of the keys stands still: a busy machine would make pauses between them, as no scanner does.
    const source = "Object.defineProperty(Event.prototype, 'timeStamp', { get: () => 0 })";
    await scanner.page.send('Page.addScriptToEvaluateOnNewDocument', { source });
    const gate = await addGate(given.database.db, given.gala.eventId);
    const { id, code } = await addDevice(given.database.db, given.gala.eventId, [gate]);
    deviceId = id;
    await scanner.enrol(code);
  });
  afterEach(() => scanner.close());

  const outcomes = async () => {
    const { rows } = await sql<{ outcome: string }>`
      select outcome from scans where device_id = ${deviceId} order by counter`.execute(given.database.db);
    return rows.map(({ outcome }) => outcome);
  };
  const admits = (count: number) =>
    waitUntil(`${count} passes are admitted`, async () => {
      const found = await outcomes();
      return found.length === count && (expect(new Set(found)).toEqual(new Set(['admitted'])), true);
    });

  test.for(Object.entries(LAYOUTS))(
    'is read if the layout of the device is %s, also a pass reference',
    async ([, keyOf]) => {
      const [one, two] = [await sell(given), await sell(given)];
      await scanner.typeAsHardware(one.pass, 'Enter', keyOf);
      await admits(1);
      await scanner.typeAsHardware(two.reference, 'Tab', keyOf);
      await admits(2);
    },
  );

  test('is read if it ends with Tab, with nothing, or while a field has the focus', async () => {
    await scanner.typeAsHardware((await sell(given)).pass, 'Tab');
    await admits(1);
    await scanner.typeAsHardware((await sell(given)).pass, null);
    await admits(2);
    let count = 2;
    for (const suffix of ['Enter', 'Tab', null] as const) {
      await scanner.evaluate("document.querySelector('#pass').focus()");
      await scanner.pressKeys((await sell(given)).pass, suffix, LAYOUTS['AZERTY']);
      await admits((count += 1));
      expect(await scanner.evaluate<string>("document.querySelector('#pass').value")).toBe('');
    }
  });

  test('that types each character by its code, with Alt, is read', async () => {
    await scanner.evaluate('document.activeElement.blur()');
    for (const character of (await sell(given)).pass) {
      const alt = { key: 'Alt', code: 'AltLeft' };
      await scanner.page.send('Input.dispatchKeyEvent', { type: 'rawKeyDown', ...alt, modifiers: 1 });
      for (const digit of `00${character.charCodeAt(0)}`)
        await scanner.page.send('Input.dispatchKeyEvent', {
          type: 'rawKeyDown',
          key: digit,
          code: `Numpad${digit}`,
          modifiers: 1,
        });
      await scanner.page.send('Input.dispatchKeyEvent', { type: 'keyUp', ...alt });
    }
    await scanner.press('Enter', '\r');
    await admits(1);
  });

  test('Tab and Enter of a person move the focus and press buttons, as everywhere', async () => {
    await scanner.tabTo('pass');
    await scanner.pressKeys('AB', 'Tab');
    expect(await scanner.evaluate<string>('document.activeElement.textContent')).toBe('Scan');
    expect(await scanner.evaluate<string>("document.querySelector('#pass').value")).toBe('AB');
    expect(await outcomes()).toEqual([]);
  });
});
