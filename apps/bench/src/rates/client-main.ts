// The process of a partner with the client: receives a load from its parent, registers attendees with a fixed
// concurrency, sends back the result and ends.
import { once } from 'node:events';
import { createClient, type RegistrationRequest } from '@floodgate/client';
import type { Load, LoadResult, RequestShape } from '@floodgate/rehearsal/load/load';
import { createTally } from '@floodgate/rehearsal/load/tally';

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
  const tally = createTally();
  const endsAt = tally.startedAt + seconds * 1_000;
  async function registerInTurn(): Promise<void> {
    while (performance.now() < endsAt) {
      const sentAt = performance.now();
      const { code } = await client.register(request);
      tally.add(code === '00' ? '200' : code, sentAt);
    }
  }
  await Promise.all(Array.from({ length: connections }, registerInTurn));
  const measured = tally.result(seconds);
  await client.close();
  return measured;
}
