// The process of a partner with the client: receives a load from its parent, registers attendees with a fixed concurrency, sends back the
// result and ends.
import { once } from 'node:events';
import { createClient, type RegistrationRequest } from '@floodgate/client';
import type { Load, LoadResult, RequestShape } from '@floodgate/rehearsal/load/load';
import { Tally } from '@floodgate/rehearsal/load/run-load';

process.on('disconnect', () => process.exit());
const [load] = (await once(process, 'message')) as [Load];
const result = await register(load);
process.send!(result, () => process.exit());

async function register({ baseUrl, requests, connections, seconds }: Load): Promise<LoadResult> {
  const [{ headers, body }] = requests as [RequestShape];
  const client = createClient({
    baseUrl,
    secretKey: headers['x-secret-key']!,
    eventRef: headers['x-event-ref']!,
  });
  const request = JSON.parse(body!) as RegistrationRequest;
  const tally = new Tally();
  const cpuBefore = process.cpuUsage();
  const startedAt = performance.now();
  const endsAt = startedAt + seconds * 1_000;
  async function registerInTurn(): Promise<void> {
    while (performance.now() < endsAt) {
      const sentAt = performance.now();
      const { code } = await client.register(request);
      tally.add(code === '00' ? '200' : code, sentAt);
    }
  }
  await Promise.all(Array.from({ length: connections }, registerInTurn));
  const cpu = process.cpuUsage(cpuBefore);
  await client.close();
  const endedAt = Math.max(endsAt, tally.lastAnswerAt);
  return {
    seconds: (endedAt - startedAt) / 1_000,
    endedAt: performance.timeOrigin + endedAt,
    answers: tally.answers,
    latencyMs: tally.latency(),
    cpuMicros: cpu.user + cpu.system,
  };
}
