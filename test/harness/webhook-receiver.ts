import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

/** A received message. */
export interface Delivery {
  id: string;
  headers: IncomingHttpHeaders & Record<string, string>;
  body: string;
  path: string;
}

/** The content of a message. */
export interface Told {
  type: string;
  timestamp: string;
  data: {
    eventRef: string;
    previousCursor: string;
    cursor: string;
    entries: ({ type: string; passReference?: string } & Record<string, unknown>)[];
  };
}

export type Answering = (delivery: Delivery, response: ServerResponse, attempt: number) => void;

const accept: Answering = (_, response) => void response.writeHead(204).end();

/** Starts a receiver on this machine. It keeps messages and answers by `answering`. */
export async function startReceiver(answering: Answering = accept) {
  const deliveries: Delivery[] = [];
  let answer = answering;
  const receive = async (request: IncomingMessage, response: ServerResponse) => {
    const headers = request.headers as Delivery['headers'];
    const body = await readBody(request);
    const delivery = { id: headers['webhook-id']!, headers, body, path: request.url! };
    deliveries.push(delivery);
    answer(delivery, response, deliveries.length);
  };
  const server = createServer((request, response) => void receive(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/hook`,
    port,
    deliveries,
    told: () => deliveries.map(({ body }) => JSON.parse(body) as Told),
    answerBy: (next: Answering) => void (answer = next),
    accept: () => void (answer = accept),
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

export type Receiver = Awaited<ReturnType<typeof startReceiver>>;

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

/** Follows the chain through messages as a receiver that drops repeats. Returns the pass references and all breaks. */
export function followChain(told: readonly Told[], from = '0') {
  let cursor = from;
  const breaks: string[] = [];
  const passes: string[] = [];
  const seen = new Set<string>();
  for (const { type, data } of told) {
    if (type !== 'event.changes') continue;
    const range = `${data.previousCursor}–${data.cursor}`;
    if (seen.has(range)) continue;
    seen.add(range);
    if (data.previousCursor !== cursor) breaks.push(`${cursor}, then ${range}`);
    ({ cursor } = data);
    passes.push(...data.entries.flatMap(({ passReference }) => passReference ?? []));
  }
  return { cursor, breaks, passes };
}
