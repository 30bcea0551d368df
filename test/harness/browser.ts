import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** Name of the Chromium on this machine, or undefined. */
export const chromium = ['chromium', 'chromium-browser', 'google-chrome'].find(
  (name) => spawnSync(name, ['--version']).status === 0,
);

const FLAGS =
  '--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --remote-debugging-port=0 ' +
  '--disable-background-networking --disable-component-update --disable-sync';

type Params = Record<string, unknown>;
interface Message {
  id?: number;
  method?: string;
  params: Params;
  result: Params;
  error?: { message: string };
}

/** A page in a real browser, driven by the DevTools protocol (chromedevtools.github.io/devtools-protocol). */
export class BrowserPage {
  readonly #socket: WebSocket;
  readonly #process: ChildProcess;
  readonly #profile: string;
  readonly #answers = new Map<number, (message: Message) => void>();
  readonly #events: Message[] = [];

  /** Starts a browser with one empty page and a new profile. `flags` are added to its own. */
  static async open(...flags: string[]): Promise<BrowserPage> {
    const profile = await mkdtemp(path.join(tmpdir(), 'floodgate-browser-'));
    const browser = spawn(
      chromium!,
      [...FLAGS.split(' '), ...flags, `--user-data-dir=${profile}`, 'about:blank'],
      {
        stdio: ['ignore', 'ignore', 'pipe'],
      },
    );
    const { host } = new URL(await addressOf(browser));
    const pages = await fetch(`http://${host}/json/list`);
    const [page] = (await pages.json()) as { webSocketDebuggerUrl: string }[];
    const socket = new WebSocket(page!.webSocketDebuggerUrl);
    await once(socket, 'open');
    return new BrowserPage(socket, browser, profile);
  }

  private constructor(socket: WebSocket, browser: ChildProcess, profile: string) {
    this.#socket = socket;
    this.#process = browser;
    this.#profile = profile;
    socket.addEventListener('message', ({ data }) => this.#take(JSON.parse(String(data)) as Message));
  }

  #take(message: Message): void {
    if (message.id === undefined) this.#events.push(message);
    else this.#answers.get(message.id)?.(message);
  }

  /** Sends a command of the protocol and returns its result. */
  async send(method: string, params: Params = {}): Promise<Params> {
    const id = this.#answers.size + 1;
    const answered = new Promise<Message>((resolve) => this.#answers.set(id, resolve));
    this.#socket.send(JSON.stringify({ id, method, params }));
    const { result, error } = await answered;
    if (error) throw new Error(`${method}: ${error.message}`);
    return result;
  }

  /** Returns the parameters of all events with this name so far. */
  events<Event>(method: string): Event[] {
    return this.#events.filter((event) => event.method === method).map(({ params }) => params as Event);
  }

  /** Returns the value of a JavaScript expression in the page. */
  async evaluate<Value>(expression: string): Promise<Value> {
    const params = { expression, awaitPromise: true, returnByValue: true };
    const { result } = await this.send('Runtime.evaluate', params);
    return (result as { value: Value }).value;
  }

  /** Ends the browser and removes its profile. */
  async close(): Promise<void> {
    const ended = once(this.#process, 'close');
    this.#process.kill();
    await ended;
    await rm(this.#profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Resolves with the address that the browser prints on standard error. */
async function addressOf(browser: ChildProcess): Promise<string> {
  let output = '';
  for await (const chunk of browser.stderr!.iterator({ destroyOnReturn: false })) {
    output += String(chunk);
    const address = /DevTools listening on (ws:\S+)/.exec(output)?.[1];
    if (address) {
      browser.stderr!.resume();
      return address;
    }
  }
  throw new Error(`the browser ended: ${output}`);
}
