import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { BrowserPage } from './browser.ts';
import { waitUntil } from './wait-until.ts';

/** How a person uses a page. */
export type Way = 'mouse' | 'keyboard' | 'phone';

export const WAYS: readonly Way[] = ['mouse', 'keyboard', 'phone'];

const WIDTHS = { mouse: 1_280, keyboard: 1_280, phone: 390 } as const satisfies Record<Way, number>;
/** A folder for a picture of every page that a person comes to. */
const PICTURES = process.env['CONSOLE_PICTURES'];
/** More than a page has that can have the focus. */
const MOST_TABS = 400;
const KEYS = { Tab: 9, Enter: 13, ' ': 32, ArrowDown: 40, Home: 36 } as const;

/** What a person can activate or fill, as a screen reader calls it. */
export type Role = 'link' | 'button' | 'textbox' | 'searchbox' | 'combobox' | 'checkbox' | 'spinbutton';

interface Found {
  backendNodeId: number;
  name: string;
}

interface AxNode {
  nodeId: string;
  parentId?: string;
  ignored: boolean;
  backendDOMNodeId: number;
  role?: { value: string };
  name?: { value: string };
}

/**
 * A person at the console, who finds things by their role and name only, and acts with a mouse, with a keyboard
 * alone, or on a phone. Counts what the person activates: links, buttons, boxes and choices. Typing is free.
 */
export class Person {
  readonly page: BrowserPage;
  #way: Way = 'mouse';
  #activations = 0;
  #story = '';
  #pictures = 0;

  /** Starts a browser in which the person is signed in. */
  static async at(consoleUrl: string, cookie: string): Promise<Person> {
    const page = await BrowserPage.open();
    for (const domain of ['Page', 'Network', 'Runtime', 'DOM', 'Accessibility'])
      await page.send(`${domain}.enable`);
    const [name, value] = cookie.split('=');
    await page.send('Network.setCookie', { url: consoleUrl, name, value });
    return new Person(page);
  }

  private constructor(page: BrowserPage) {
    this.page = page;
  }

  /** Acts in this way from now on. */
  async use(way: Way): Promise<void> {
    this.#way = way;
    const screen = { width: WIDTHS[way], height: 900, deviceScaleFactor: 1, mobile: way === 'phone' };
    await this.page.send('Emulation.setDeviceMetricsOverride', screen);
  }

  /** The number of links, buttons, boxes and choices that were activated since the home page. */
  get activations(): number {
    return this.#activations;
  }

  /** Opens the home page. The count starts again. `story`: the name of the pictures from now on. */
  async goHome(consoleUrl: string, story = ''): Promise<void> {
    this.#story = story;
    this.#pictures = 0;
    await this.#follow(() => this.page.send('Page.navigate', { url: `${consoleUrl}/` }));
    this.#activations = 0;
  }

  /** Follows a link, and waits for the next page. `part`: the part of the page with it, if others have one, too. */
  async follow(name: string | RegExp, part?: string): Promise<void> {
    await this.#activateAndLoad('link', name, part);
  }

  /** Follows a link to a file. The page stays. */
  async download(name: string | RegExp): Promise<void> {
    await this.#activate(await this.find(['link'], name), 'Enter');
  }

  /** Presses a button that leads to another page, and waits for it. */
  async press(name: string | RegExp): Promise<void> {
    await this.#activateAndLoad('button', name);
  }

  /** Types into a field, in place of what is there. */
  async type(name: string | RegExp, text: string, part?: string): Promise<void> {
    const found = await this.find(['textbox', 'searchbox', 'spinbutton'], name, part);
    await this.#focus(found);
    await this.page.evaluate('document.activeElement.select?.()');
    await this.page.send('Input.insertText', { text });
  }

  /** Types a text and sends the form with Enter. Counts as one activation. */
  async submit(name: string | RegExp, text: string): Promise<void> {
    await this.type(name, text);
    this.#activations++;
    await this.#follow(() => this.#key('Enter'));
  }

  /** Sets a date and time: "2026-12-04T11:00". */
  async setTime(name: RegExp, text: string): Promise<void> {
    const found = await this.#findByLabel(name);
    await this.#on(found, `function () { this.value = ${JSON.stringify(text)}; }`);
  }

  /** Returns what a field for a time shows. */
  async timeOf(name: RegExp): Promise<string> {
    return this.#on<string>(await this.#findByLabel(name), 'function () { return this.value; }');
  }

  /** Chooses something from a list by its name. */
  async choose(name: string | RegExp, option: string): Promise<void> {
    const found = await this.find(['combobox'], name);
    await this.#focus(found);
    this.#activations++;
    // A list opens outside the page, where the protocol sees nothing. Its keys work without opening it.
    const index = await this.#on<number>(
      found,
      `function () { return [...this.options].findIndex((one) => one.text.includes(${JSON.stringify(option)})); }`,
    );
    if (index < 0) throw new Error(`${String(name)} has no choice ${option}`);
    await this.#key('Home');
    for (let step = 0; step < index; step++) await this.#key('ArrowDown');
  }

  /** Checks or unchecks a box. */
  async tick(name: string | RegExp): Promise<void> {
    await this.#activate(await this.find(['checkbox'], name), ' ');
  }

  /** Returns the text of the page as a person sees it. */
  async text(): Promise<string> {
    return this.page.evaluate<string>('document.body.innerText');
  }

  async close(): Promise<void> {
    await this.page.close();
  }

  /** Finds the only thing with one of these roles and this name, in a named part of the page if one is given. */
  async find(roles: readonly Role[], name: string | RegExp, part?: string): Promise<Found> {
    const all = (await this.#tree()).filter(({ role }) => roles.includes(role as Role));
    const isNamed = (one: string) => (typeof name === 'string' ? one === name : name.test(one));
    const found = all.filter((one) => isNamed(one.name) && (part === undefined || one.parts.includes(part)));
    const [only] = found;
    if (only && found.length === 1) return only;
    const things = `${roles.join(' or ')} "${String(name)}"`;
    if (only) throw new Error(`${found.length} things are a ${things}, which nobody can tell apart`);
    throw new Error(`no ${things}; there are: ${all.map((one) => one.name).join(' | ')}`);
  }

  /** Returns what a screen reader finds on the page, each with the names of what it is in. */
  async #tree() {
    const { nodes } = (await this.page.send('Accessibility.getFullAXTree')) as unknown as { nodes: AxNode[] };
    const byId = new Map(nodes.map((node) => [node.nodeId, node]));
    const nameOf = ({ name }: AxNode) => (name?.value ?? '').trim();
    const partsOf = ({ parentId }: AxNode): string[] => {
      const parent = parentId === undefined ? undefined : byId.get(parentId);
      return parent ? [nameOf(parent), ...partsOf(parent)] : [];
    };
    return nodes
      .filter(({ ignored }) => !ignored)
      .map((node) => ({
        role: node.role?.value ?? '',
        name: nameOf(node),
        backendNodeId: node.backendDOMNodeId,
        parts: partsOf(node),
      }));
  }

  /** Finds a field by its label: the tree shows a field for a time as several. */
  async #findByLabel(name: RegExp): Promise<Found> {
    const id = await this.page.evaluate<string>(
      `[...document.querySelectorAll('label')].find((one) => ${String(name)}.test(one.innerText))?.htmlFor ?? ''`,
    );
    if (!id) throw new Error(`no field ${String(name)}`);
    const { root } = (await this.page.send('DOM.getDocument')) as { root: { nodeId: number } };
    const { nodeId } = await this.page.send('DOM.querySelector', {
      nodeId: root.nodeId,
      selector: `[id="${id}"]`,
    });
    const { node } = (await this.page.send('DOM.describeNode', { nodeId })) as {
      node: { backendNodeId: number };
    };
    return { backendNodeId: node.backendNodeId, name: String(name) };
  }

  async #activateAndLoad(role: Role, name: string | RegExp, part?: string): Promise<void> {
    const found = await this.find([role], name, part);
    await this.#follow(() => this.#activate(found, 'Enter'));
  }

  /** Does something that loads a page, and waits for it. */
  async #follow(act: () => Promise<unknown>): Promise<void> {
    const before = this.page.events('Page.loadEventFired').length;
    await act();
    await waitUntil('the next page is loaded', () => this.page.events('Page.loadEventFired').length > before);
    // Some pages count for a while, and then show themselves again.
    await waitUntil('the page has everything', () =>
      this.page.evaluate<boolean>(
        "document.readyState === 'complete' && !document.querySelector('.waiting')",
      ),
    );
    await this.#picture();
  }

  async #picture(): Promise<void> {
    if (!PICTURES) return;
    const { data } = await this.page.send('Page.captureScreenshot', { captureBeyondViewport: true });
    const file = `${this.#story}-${this.#way}-${this.#pictures++}.png`;
    await writeFile(path.join(PICTURES, file), String(data), 'base64');
  }

  async #activate(found: Found, key: keyof typeof KEYS): Promise<void> {
    this.#activations++;
    if (this.#way !== 'keyboard') return this.#click(found);
    await this.#focus(found);
    await this.#key(key);
  }

  async #click({ backendNodeId, name }: Found): Promise<void> {
    await this.page.send('DOM.scrollIntoViewIfNeeded', { backendNodeId });
    const { quads } = (await this.page.send('DOM.getContentQuads', { backendNodeId })) as {
      quads: number[][];
    };
    const quad = quads[0];
    if (!quad) throw new Error(`"${name}" has no place on the page`);
    const x = (quad[0]! + quad[4]!) / 2;
    const y = (quad[1]! + quad[5]!) / 2;
    const button = { x, y, button: 'left', clickCount: 1 };
    await this.page.send('Input.dispatchMouseEvent', { type: 'mousePressed', ...button });
    await this.page.send('Input.dispatchMouseEvent', { type: 'mouseReleased', ...button });
  }

  /** Moves the focus there: by a click, or by the Tab key. */
  async #focus(found: Found): Promise<void> {
    if (this.#way !== 'keyboard') return this.#click(found);
    const { objectId } = await this.#resolve(found);
    const functionDeclaration = 'function () { return this === document.activeElement; }';
    for (let count = 0; count < MOST_TABS; count++) {
      if (await this.#call<boolean>(objectId, functionDeclaration)) return;
      await this.#key('Tab');
    }
    throw new Error(`no way to "${found.name}" by the keyboard`);
  }

  /** Calls a function with an element as `this`. */
  async #on<Value>(found: Found, functionDeclaration: string): Promise<Value> {
    const { objectId } = await this.#resolve(found);
    return this.#call<Value>(objectId, functionDeclaration);
  }

  async #resolve({ backendNodeId }: Found) {
    const { object } = await this.page.send('DOM.resolveNode', { backendNodeId });
    return object as { objectId: string };
  }

  async #call<Value>(objectId: string, functionDeclaration: string): Promise<Value> {
    const call = { objectId, functionDeclaration, returnByValue: true };
    const { result } = (await this.page.send('Runtime.callFunctionOn', call)) as { result: { value: Value } };
    return result.value;
  }

  async #key(key: keyof typeof KEYS): Promise<void> {
    const texts: Partial<Record<string, string>> = { Enter: '\r', ' ': ' ' };
    const event = {
      key,
      code: key === ' ' ? 'Space' : key,
      windowsVirtualKeyCode: KEYS[key],
      text: texts[key],
    };
    await Promise.all([
      this.page.send('Input.dispatchKeyEvent', { type: 'keyDown', ...event }),
      this.page.send('Input.dispatchKeyEvent', { type: 'keyUp', ...event }),
    ]);
  }
}
