import { openConnections, type Connection } from './connection.ts';
import type { Load, LoadProgress, RequestShape } from './load.ts';
import { Partners } from './loop.ts';

const FIRST_CONNECTIONS = 64;
const PROGRESS_MS = 1_000;

/** Generates a load in this process. `onProgress` is called every second. */
export async function runLoad(load: Load, onProgress: (progress: LoadProgress) => void = () => {}) {
  const requests = load.requests.map((request) => rawRequest(load.baseUrl, request));
  const phases = phasesOf(load);
  const connections = await openFirst(load, phases !== undefined);
  const partners = new Partners(load, requests, connections);
  const reporting = setInterval(() => onProgress(partners.progress), PROGRESS_MS);
  let startsAt = performance.now();
  if (!phases) await partners.stayBusy();
  for (const phase of phases ?? []) {
    await partners.runPhase(phase, startsAt);
    startsAt += phase.seconds * 1000;
  }
  const seconds = phases?.reduce((sum, phase) => sum + phase.seconds, 0) ?? load.seconds;
  const result = await partners.finish(seconds);
  clearInterval(reporting);
  return result;
}

async function openFirst({ baseUrl, greeting, connections: most }: Load, isOpenLoop: boolean) {
  const count = isOpenLoop && !greeting ? Math.min(FIRST_CONNECTIONS, most) : most;
  const connections = await openConnections(baseUrl, count);
  if (connections.length === 0) throw new Error(`${baseUrl} accepts no connections`);
  if (greeting) await greet(connections, rawRequest(baseUrl, greeting));
  return connections;
}

function phasesOf({ phases, seconds, arrivalsPerSecond: perSecond }: Load) {
  return phases ?? (perSecond === undefined ? undefined : [{ seconds, perSecond }]);
}

async function greet(connections: Connection[], request: Buffer) {
  for (const connection of connections)
    await new Promise<void>((resolve) => connection.send(request, () => resolve()));
}

/** Returns a request as the bytes that are sent. */
export function rawRequest(baseUrl: string, { method, path, headers, body = '' }: RequestShape) {
  const bodyHeaders =
    body === '' ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  const lines = Object.entries({ host: new URL(baseUrl).host, ...bodyHeaders, ...headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`);
}
