import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** What the proxy does with data. */
type Mode =
  /** Forwards everything. */
  | 'pass'
  /** Forwards requests and drops all answers. */
  | 'swallow-answers'
  /** Forwards the next request, cuts the connection when its answer arrives, then passes again. */
  | 'cut-next-answer'
  /** Forwards nothing, as if packets were lost. Forwards the held data when the mode changes. */
  | 'silent'
  /** Closes all connections, and new ones, immediately. */
  | 'down'
  /** Like `down`, with a reset (RST) in place of an end (FIN). */
  | 'reset';

/** A TCP proxy in front of a server, for faults on the wire. */
export class TcpProxy {
  readonly #server: Server;
  #target: { host: string; port: number };
  readonly #sockets = new Set<Socket>();
  readonly #forgotten = new WeakSet<Socket>();
  #mode: Mode = 'pass';
  #delayMs = 0;
  #words: ReadonlyMap<string, string> = new Map();
  /** Number of connections so far, including those that it closed immediately. */
  accepted = 0;

  private constructor(target: { host: string; port: number }) {
    this.#target = target;
    this.#server = createServer((client) => this.#accept(client));
  }

  /** Starts a proxy to the host and port of `targetUrl`. */
  static async start(targetUrl: string): Promise<TcpProxy> {
    const proxy = new TcpProxy(addressOf(targetUrl));
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  /** Ends the open connections. New ones go to another server. */
  redirect(targetUrl: string): void {
    this.redirectNew(targetUrl);
    this.#cutAll();
  }

  /** New connections go to another server, as after a change in DNS. The open ones stay. */
  redirectNew(targetUrl: string): void {
    this.#target = addressOf(targetUrl);
  }

  /** Returns `targetUrl` with the proxy's address in place of the server's. */
  through(targetUrl: string): string {
    const url = new URL(targetUrl);
    url.hostname = '127.0.0.1';
    url.port = String((this.#server.address() as AddressInfo).port);
    return url.href;
  }

  get mode(): Mode {
    return this.#mode;
  }

  setMode(mode: Mode): void {
    this.#mode = mode;
    if (mode === 'down') this.#cutAll();
    if (mode === 'reset') for (const socket of this.#sockets) socket.resetAndDestroy();
    for (const socket of this.#sockets)
      if (mode === 'silent') socket.pause();
      else if (!this.#forgotten.has(socket)) socket.resume();
  }

  /** Sets the delay of all data in each direction. */
  setDelay(delayMs: number): void {
    this.#delayMs = delayMs;
  }

  /** Replaces words in the server's answers. A word and its replacement have the same number of bytes. */
  replaceInAnswers(words: ReadonlyMap<string, string>): void {
    this.#words = words;
  }

  /** Ends the open connections. New ones pass. */
  cutConnections(): void {
    this.#cutAll();
  }

  /** Drops all data of the open connections without closing them, like a NAT that has lost their state. New ones pass. */
  forgetConnections(): void {
    for (const socket of this.#sockets) this.#forgotten.add(socket.pause());
  }

  async stop(): Promise<void> {
    this.#cutAll();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #cutAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #accept(client: Socket): void {
    this.accepted += 1;
    if (this.#mode === 'down') return void client.destroy();
    if (this.#mode === 'reset') return void client.resetAndDestroy();
    const upstream = connect(this.#target);
    for (const socket of [client, upstream]) {
      this.#sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        this.#sockets.delete(socket);
        // The client sees a cut immediately. The server continues with the data that it has received.
        if (socket === upstream) client.destroy();
        else upstream.end();
      });
    }
    const deliver = this.#delayed((chunk) => upstream.write(chunk));
    const answer = this.#delayed((chunk) => this.#answer(client, chunk));
    client.on('data', deliver);
    upstream.on('data', answer);
    if (this.#mode === 'silent') for (const socket of [client, upstream]) socket.pause();
  }

  /** Calls `pass` with every chunk in order, delayed by the delay at its arrival. */
  #delayed(pass: (chunk: Buffer | string) => void): (chunk: Buffer | string) => void {
    const held: (Buffer | string)[] = [];
    return (chunk) => {
      if (this.#delayMs === 0 && held.length === 0) return pass(chunk);
      held.push(chunk);
      setTimeout(() => pass(held.shift()!), this.#delayMs);
    };
  }

  #answer(client: Socket, chunk: Buffer | string): void {
    if (this.#mode === 'swallow-answers') return;
    if (this.#mode !== 'cut-next-answer') return void client.write(this.#reword(chunk));
    this.#mode = 'pass';
    client.destroy();
  }

  #reword(chunk: Buffer | string): Buffer | string {
    if (this.#words.size === 0) return chunk;
    // One character per byte.
    let text = chunk.toString('latin1');
    for (const [word, other] of this.#words) text = text.replaceAll(word, other);
    return Buffer.from(text, 'latin1');
  }
}

function addressOf(url: string): { host: string; port: number } {
  const { hostname, port } = new URL(url);
  return { host: hostname, port: Number(port) };
}
