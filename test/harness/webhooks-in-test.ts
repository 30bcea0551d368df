import { expect, onTestFinished } from 'vitest';
import { startReceiver, type Answering, type Receiver } from './webhook-receiver.ts';
import { deliverWebhooks, type DeliverOptions } from './webhooks.ts';

// Things that end with the test. Separate from webhooks.ts, which also runs without Vitest.

/** Starts a receiver that stops after the test. */
export async function startReceiverInTest(answering?: Answering): Promise<Receiver> {
  const receiver = await startReceiver(answering);
  onTestFinished(() => receiver.close());
  return receiver;
}

/** Delivers webhooks until the test ends. The test fails if a round failed. */
export async function deliverInTest(url: string, options: DeliverOptions = {}) {
  const delivering = await deliverWebhooks(url, options);
  onTestFinished(async () => {
    await delivering.close();
    expect(delivering.failures).toEqual([]);
  });
  return delivering;
}
