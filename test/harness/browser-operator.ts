import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { BrowserPage } from './browser.ts';
import { waitUntil } from './wait-until.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** Set it to keep pictures. */
const PICTURES = process.env['CONSOLE_PICTURES'];

/** An operator who uses the console in a real browser, and finds things by their names. */
export class BrowserOperator {
  readonly page: BrowserPage;
  readonly #baseUrl: string;

  private constructor(page: BrowserPage, baseUrl: string) {
    this.page = page;
    this.#baseUrl = baseUrl;
  }

  /** Starts a browser whose operator is signed in with a session. */
  static async open(baseUrl: string, session: string): Promise<BrowserOperator> {
    const page = await BrowserPage.open();
    for (const domain of ['Page', 'Network', 'Runtime', 'Log']) await page.send(`${domain}.enable`);
    const operator = new BrowserOperator(page, baseUrl);
    await operator.setCookie('floodgate_session', session);
    return operator;
  }

  close(): Promise<void> {
    return this.page.close();
  }

  async setCookie(name: string, value: string): Promise<void> {
    await this.page.send('Network.setCookie', { url: this.#baseUrl, name, value });
  }

  evaluate<Value>(expression: string): Promise<Value> {
    return this.page.evaluate<Value>(expression);
  }

  /** Opens a page. */
  async visit(at: string): Promise<void> {
    const url = new URL(at, this.#baseUrl).href;
    await this.#load(() => this.page.send('Page.navigate', { url }));
  }

  /** Activates the link or button with this name, and waits for the page to which it leads. */
  async activate(name: string): Promise<void> {
    await this.#load(() => this.press(name));
  }

  /** Activates the link or button with this name. */
  async press(name: string): Promise<void> {
    const isThere = await this.evaluate<boolean>(`(() => {
      const nameOf = (one) => (one.ariaLabel ?? one.textContent).trim().replaceAll(/\\s+/g, ' ');
      const found = [...document.querySelectorAll('a, button')].find(
        (one) => nameOf(one) === ${JSON.stringify(name)} && one.checkVisibility());
      found?.click();
      return found !== undefined;
    })()`);
    if (!isThere) throw new Error(`nothing on the page is called ${name}: ${await this.text()}`);
  }

  /** Types into the field with this id. */
  async type(id: string, text: string): Promise<void> {
    await this.evaluate(`document.querySelector('#${id}').focus()`);
    await this.page.send('Input.insertText', { text });
  }

  /** Waits also for what the page shows as soon as it is there. */
  async #load(start: () => Promise<unknown>): Promise<void> {
    await this.evaluate('globalThis.isOld = true');
    await start();
    await waitUntil('the page is loaded', () =>
      this.evaluate<boolean>(
        "!globalThis.isOld && document.readyState === 'complete' && !document.querySelector('.waiting')",
      ),
    );
  }

  text(selector = 'main'): Promise<string> {
    return this.evaluate<string>(`document.querySelector(${JSON.stringify(selector)})?.innerText ?? ''`);
  }

  /** Returns the rules of accessibility that the page breaks, and whether it is wider than the screen. */
  async violations(): Promise<string[]> {
    await this.evaluate(AXE);
    return this.evaluate<string[]>(`axe.run().then(({ violations }) => [
      ...violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html.slice(0, 120)).join(' ')),
      ...(document.documentElement.scrollWidth > innerWidth ? ['wider than the screen'] : []),
    ])`);
  }

  /** Returns what the policy of the page has refused so far. */
  refusedByPolicy(): string[] {
    const entries = this.page.events<{ entry: { text: string } }>('Log.entryAdded');
    return entries.map(({ entry }) => entry.text).filter((text) => text.includes('Content Security Policy'));
  }

  async resize(width: number, scheme: 'light' | 'dark', media = ''): Promise<void> {
    const metrics = { width, height: 900, deviceScaleFactor: 1, mobile: width < 600 };
    await this.page.send('Emulation.setDeviceMetricsOverride', metrics);
    const features = [{ name: 'prefers-color-scheme', value: scheme }];
    await this.page.send('Emulation.setEmulatedMedia', { media, features });
  }

  /** Keeps a picture of the page, if that is wanted. */
  async picture(title: string): Promise<void> {
    if (!PICTURES) return;
    const { data } = await this.page.send('Page.captureScreenshot', { captureBeyondViewport: true });
    await writeFile(path.join(PICTURES, `${title}.png`), String(data), 'base64');
  }
}
