import { expect, onTestFinished } from 'vitest';
import { startReceiver, type Answering, type Receiver } from './webhook-receiver.ts';
import { deliverWebhooks, type DeliverOptions } from './webhooks.ts';

// What ends with the test. Apart from the rest, which runs without Vitest as well.

/** Starts a receiver that lives as long as the test. */
export async function startReceiverInTest(answering?: Answering): Promise<Receiver> {
  const receiver = await startReceiver(answering);
  onTestFinished(() => receiver.close());
  return receiver;
}

/** Delivers webhooks until the test ends, which fails where a round has failed. */
export async function deliverInTest(url: string, options: DeliverOptions = {}) {
  const delivering = await deliverWebhooks(url, options);
  onTestFinished(async () => {
    await delivering.close();
    expect(delivering.failures).toEqual([]);
  });
  return delivering;
}
