import { createServer, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo, Server, Socket } from 'node:net';
import { SMTPServer, type SMTPServerDataStream } from 'smtp-server';
import type { Breakable } from './deployment.ts';
import { Random } from './random.ts';

// Those who are told: a partner's receiver of webhooks, and the SMTP server that takes e-mails. Both are moody.

/** A message that a receiver has taken, whether its answer arrived or not. */
export interface TakenMessage {
  id: string;
  body: string;
}

/** Of a hundred messages so many are refused, and of so many the answer is lost. */
const REFUSED_PERCENT = 2;
const LOST_PERCENT = 2;

/** Something that listens at one address, and is away now and then. */
abstract class Listening implements Breakable {
  #server: { close: () => unknown; sockets: Set<Socket> } | null = null;
  port = 0;

  protected abstract listen(
    port: number,
  ): Promise<{ close: () => unknown; sockets: Set<Socket>; port: number }>;

  async recover(): Promise<void> {
    if (this.#server) return;
    const listening = await this.listen(this.port);
    this.#server = listening;
    this.port = listening.port;
  }

  /** Nobody listens any more, and every connection is cut. */
  crash(): Promise<void> {
    this.#server?.close();
    for (const socket of this.#server?.sockets ?? []) socket.resetAndDestroy();
    this.#server = null;
    return Promise.resolve();
  }

  /** It is part of this process, which cannot be frozen. */
  signal(): void {
    throw new Error('a receiver cannot be frozen');
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.crash();
  }
}

function trackSockets(server: Server): Set<Socket> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  return sockets;
}

/** Takes webhooks. Each path is an endpoint of its own. */
export class WebhookReceiver extends Listening {
  readonly #random: Random;
  readonly #taken = new Map<string, TakenMessage[]>();

  private constructor(seed: number) {
    super();
    this.#random = new Random(seed);
  }

  static async start(seed: number): Promise<WebhookReceiver> {
    const receiver = new WebhookReceiver(seed);
    await receiver.recover();
    return receiver;
  }

  urlOf(path: string): string {
    return `http://127.0.0.1:${this.port}${path}`;
  }

  /** What was taken at a path, in order. */
  takenAt(path: string): readonly TakenMessage[] {
    return this.#taken.get(path) ?? [];
  }

  protected async listen(port: number) {
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const id = String(request.headers['webhook-id']);
        this.#answer(request.url!, { id, body: Buffer.concat(chunks).toString() }, response);
      });
    });
    const sockets = trackSockets(server);
    await once(server.listen(port, '127.0.0.1'), 'listening');
    return { close: () => server.close(), sockets, port: (server.address() as AddressInfo).port };
  }

  #answer(path: string, message: TakenMessage, response: ServerResponse): void {
    if (this.#random.chance(REFUSED_PERCENT)) {
      response.writeHead(500).end();
      return;
    }
    this.#taken.set(path, [...this.takenAt(path), message]);
    if (this.#random.chance(LOST_PERCENT)) response.destroy();
    else response.writeHead(204).end();
  }
}

/** An e-mail that the server has taken. */
export interface TakenMail {
  to: string;
  messageId: string;
}

/** Of a thousand recipients so many are refused for a reason that holds for all: then nothing is sent for a while. */
const REFUSED_FOR_ALL_PER_MILLE = 1;

/** Takes e-mails, and refuses some for now: with 450, and now and then with 421 or 454. */
export class MailReceiver extends Listening {
  readonly #random: Random;
  readonly taken: TakenMail[] = [];

  private constructor(seed: number) {
    super();
    this.#random = new Random(seed);
  }

  static async start(seed: number): Promise<MailReceiver> {
    const receiver = new MailReceiver(seed);
    await receiver.recover();
    return receiver;
  }

  get url(): string {
    return `smtp://127.0.0.1:${this.port}`;
  }

  protected async listen(port: number) {
    const server = new SMTPServer({
      disabledCommands: ['AUTH', 'STARTTLS'],
      logger: false,
      onRcptTo: (_address, _session, callback) => callback(this.#refusal()),
      onData: (stream, session, callback) =>
        // Fails where the sender ends in the middle of a message.
        void this.#take(stream, session.envelope.rcptTo[0]!.address, callback).catch(callback),
    });
    server.on('error', () => {});
    const sockets = trackSockets(server.server);
    await once(server.listen(port, '127.0.0.1'), 'listening');
    return {
      close: () => server.server.close(),
      sockets,
      port: (server.server.address() as AddressInfo).port,
    };
  }

  #drawCode(): number | null {
    if (this.#random.between(1, 1_000) <= REFUSED_FOR_ALL_PER_MILLE) return this.#random.pick([421, 454]);
    return this.#random.chance(REFUSED_PERCENT) ? 450 : null;
  }

  #refusal(): Error | null {
    const code = this.#drawCode();
    return code === null ? null : Object.assign(new Error('not now'), { responseCode: code });
  }

  async #take(
    stream: SMTPServerDataStream,
    to: string,
    answer: (error?: Error | null) => void,
  ): Promise<void> {
    let text = '';
    for await (const chunk of stream) text += String(chunk);
    const messageId = /^message-id:\s*(\S+)/im.exec(text)?.[1] ?? '';
    this.taken.push({ to, messageId });
    answer(null);
  }
}
