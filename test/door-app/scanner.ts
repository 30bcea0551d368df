import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { BrowserPage } from '../harness/browser.ts';
import { waitUntil } from '../harness/wait-until.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const PATIENCE_MS = 60_000;
/** Set it to keep pictures. */
const PICTURES = process.env['DOOR_PICTURES'];

/** What a keyboard reports for a key: its character in the layout of the device, and its position. */
export interface HardwareKey {
  key: string;
  code: string;
  isShifted?: boolean;
}

/** The key of a character on a US keyboard. */
export function usKey(character: string): HardwareKey {
  if (/[A-Z]/.test(character)) return { key: character, code: `Key${character}`, isShifted: true };
  if (/\d/.test(character)) return { key: character, code: `Digit${character}` };
  return { key: character, code: { '.': 'Period', '-': 'Minus' }[character] ?? '' };
}

/** The scanner of the door in a real browser, as a person uses it. */
export class Scanner {
  readonly page: BrowserPage;
  readonly #baseUrl: string;

  private constructor(page: BrowserPage, baseUrl: string) {
    this.page = page;
    this.#baseUrl = baseUrl;
  }

  /** Starts a browser that has never opened the app. */
  static async open(baseUrl: string, ...flags: string[]): Promise<Scanner> {
    const page = await BrowserPage.open(...flags);
    for (const domain of ['Page', 'Network', 'Runtime', 'Log']) await page.send(`${domain}.enable`);
    return new Scanner(page, baseUrl);
  }

  close(): Promise<void> {
    return this.page.close();
  }

  evaluate<Value>(expression: string): Promise<Value> {
    return this.page.evaluate<Value>(expression);
  }

  /** Opens the app, also if only the fragment of the address differs. */
  async visit(at = '/door/'): Promise<void> {
    await this.page.send('Page.navigate', { url: 'about:blank' });
    await this.#load(() => this.page.send('Page.navigate', { url: new URL(at, this.#baseUrl).href }));
  }

  reload(): Promise<void> {
    return this.#load(() => this.page.send('Page.reload'));
  }

  async #load(start: () => Promise<unknown>): Promise<void> {
    await this.evaluate('globalThis.isOld = true');
    await start();
    await waitUntil('the page is loaded', () =>
      this.evaluate<boolean>(
        "location.protocol.startsWith('http') && !globalThis.isOld && document.readyState === 'complete'",
      ),
    );
  }

  /** Opens the app with the code in the fragment, and waits until it can scan. */
  async enrol(code: string): Promise<void> {
    await this.visit(`/door/#${code}`);
    await this.shows('#connection', 'Online');
  }

  /** Returns the visible text of an element, or an empty text if the element is hidden. */
  text(selector: string): Promise<string> {
    const found = `document.querySelector(${JSON.stringify(selector)})`;
    return this.evaluate<string>(`${found}.checkVisibility() ? ${found}.innerText : ''`);
  }

  /** Resolves when the visible text of the element includes this text. */
  async shows(selector: string, text: string): Promise<void> {
    let last = '';
    await waitUntil(
      `${selector} shows ${text}`,
      async () => {
        last = await this.text(selector);
        return last?.includes(text);
      },
      PATIENCE_MS,
    ).catch(async (error: unknown) => {
      throw new Error(`it shows: ${last}\n${await this.text('body')}`, { cause: error });
    });
  }

  /** Clicks an element. The element must be visible. */
  async click(selector: string): Promise<void> {
    await this.#isVisible(selector);
    const expression = `document.querySelector(${JSON.stringify(selector)}).click()`;
    await this.page.send('Runtime.evaluate', { expression, userGesture: true });
  }

  #isVisible(selector: string) {
    const expression = `document.querySelector(${JSON.stringify(selector)}).checkVisibility()`;
    return waitUntil(`${selector} is visible`, () => this.evaluate<boolean>(expression));
  }

  /** Types a text into a field, and presses Enter. */
  async enter(field: string, text: string): Promise<void> {
    await this.#isVisible(`#${field}`);
    await this.evaluate(`document.querySelector('#${field}').focus()`);
    await this.page.send('Input.insertText', { text });
    await this.press('Enter', '\r');
  }

  /** Types a text while no field has the focus, as a hardware scanner does, with a key after it. */
  async typeAsHardware(
    text: string,
    suffix: 'Enter' | 'Tab' | null = 'Enter',
    keyOf: (character: string) => HardwareKey = usKey,
  ): Promise<void> {
    await this.evaluate('document.activeElement.blur()');
    await this.pressKeys(text, suffix, keyOf);
  }

  /** Presses the keys of a text where the focus is. */
  async pressKeys(text: string, suffix: 'Enter' | 'Tab' | null, keyOf = usKey): Promise<void> {
    // Without a wait for each: a busy machine would make a pause between two keys, as no scanner does.
    const pressed = Array.from(text).flatMap((character) => {
      const { key, code, isShifted } = keyOf(character);
      const event = { key, code, ...(isShifted && { modifiers: 8 }) };
      const typed = key.length === 1 ? { text: key } : {};
      return [
        this.page.send('Input.dispatchKeyEvent', { type: 'keyDown', ...event, ...typed }),
        this.page.send('Input.dispatchKeyEvent', { type: 'keyUp', ...event }),
      ];
    });
    await Promise.all(pressed);
    if (suffix === 'Enter') await this.press('Enter', '\r');
    if (suffix === 'Tab') await this.press('Tab');
  }

  /** Presses a key. */
  async press(key: string, text = ''): Promise<void> {
    const windowsVirtualKeyCode = { Tab: 9, Enter: 13 }[key];
    const event = { key, ...(text && { text }), ...(windowsVirtualKeyCode && { windowsVirtualKeyCode }) };
    await this.page.send('Input.dispatchKeyEvent', { type: 'keyDown', ...event });
    await this.page.send('Input.dispatchKeyEvent', { type: 'keyUp', key });
  }

  /** Scans a pass by typing, and waits for the result. */
  async scan(pass: string, outcome: string): Promise<void> {
    await this.evaluate("document.querySelector('#result .outcome').textContent = ''");
    await this.enter('pass', pass);
    await this.shows('#result', outcome);
  }

  /** Changes a stored scan so that the server refuses it. */
  spoil(counter: number): Promise<void> {
    return this.evaluate(`new Promise((resolve) => {
      indexedDB.open('floodgate-door').onsuccess = ({ target: { result: db } }) => {
        const transaction = db.transaction('scans', 'readwrite');
        const scans = transaction.objectStore('scans');
        scans.get(${counter}).onsuccess = ({ target: { result } }) => scans.put({ ...result, gateID: 0 });
        transaction.oncomplete = () => { db.close(); resolve(); };
      };
    })`);
  }

  /** Returns the rules of accessibility that the page breaks, with what breaks them, and whether it is too wide. */
  async violations(): Promise<string[]> {
    await this.evaluate(AXE);
    return this.evaluate<string[]>(`axe.run().then(({ violations }) => [
      ...violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html.slice(0, 120)).join(' ')),
      ...(document.documentElement.scrollWidth > innerWidth ? ['wider than the screen'] : []),
      ...[...document.querySelectorAll('button, input, fieldset label')]
        .filter((one) => one.checkVisibility() && one.type !== 'radio' && one.getBoundingClientRect().height < 44)
        .map(({ outerHTML }) => 'small target: ' + outerHTML),
    ])`);
  }

  /** Moves the focus by the keyboard to the element with this id. */
  async tabTo(id: string): Promise<void> {
    for (let count = 0; count < 40; count += 1) {
      if ((await this.evaluate<string>('document.activeElement.id')) === id) return;
      await this.press('Tab');
    }
    throw new Error(`the keyboard does not reach ${id}`);
  }

  /** Returns what the policy of the page has refused so far. */
  async refusedByPolicy(): Promise<string[]> {
    await this.evaluate('0');
    const entries = this.page.events<{ entry: { text: string } }>('Log.entryAdded');
    return entries.map(({ entry }) => entry.text).filter((text) => text.includes('Content Security Policy'));
  }

  async resize(width: number, scheme: 'light' | 'dark'): Promise<void> {
    const metrics = { width, height: 800, deviceScaleFactor: 1, mobile: width < 600 };
    await this.page.send('Emulation.setDeviceMetricsOverride', metrics);
    const features = [{ name: 'prefers-color-scheme', value: scheme }];
    await this.page.send('Emulation.setEmulatedMedia', { features });
  }

  async picture(name: string): Promise<void> {
    if (!PICTURES) return;
    const { data } = await this.page.send('Page.captureScreenshot', { captureBeyondViewport: true });
    await writeFile(path.join(PICTURES, `${name}.png`), String(data), 'base64');
  }

  /** Prints how long it took from the first picture of a code to its result, for each view. */
  async report(views: string[]): Promise<void> {
    if (!process.env['DOOR_FIGURES']) return;
    const times = await this.evaluate<(number | null)[]>(
      'Object.keys(shownMs).map((frame) => resultMs[frame] ? resultMs[frame] - shownMs[frame] : null)',
    );
    const sorted = times.filter((time) => time !== null).sort((one, other) => one - other);
    const at = (share: number) => Math.round(sorted[Math.floor(share * (sorted.length - 1))] ?? 0);
    const missed = times.flatMap((time, frame) => (time === null ? views[frame % views.length]! : []));
    const figures = `median ${at(0.5)} ms, 95 % ${at(0.95)} ms, longest ${at(1)} ms`;
    process.stdout.write(
      `read ${sorted.length} of ${times.length}: ${figures}; missed: ${missed.join(', ')}\n`,
    );
  }
}
