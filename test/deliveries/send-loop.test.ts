import { queueDeliveries, SendLoop, type DeliveryKind } from '@floodgate/deliveries';
import { expect, onTestFinished } from 'vitest';
import { eventTest } from '../harness/event-test.ts';
import { waitUntil } from '../harness/wait-until.ts';

const { test, given } = eventTest({ own: 'counts, empties or compares whole tables' });

interface Message {
  revision: number;
  subject: string;
}

const kind: DeliveryKind<Message, string> = {
  name: 'confirmation',
  consumerKind: null,
  load: (deliveries) =>
    Promise.resolve(new Map(deliveries.map(({ subject }) => [subject, { item: subject }]))),
  render: (subject) => Promise.resolve({ revision: 1, subject }),
};

/** Opens a loop whose task never runs. */
function openLoop() {
  const sent: string[] = [];
  const errors: Error[] = [];
  const loop = new SendLoop<Message>({
    db: given.db,
    kinds: [kind],
    send: ({ subject }) => {
      sent.push(subject);
      return Promise.resolve({ kind: 'sent' });
    },
    rate: { limitPerCall: Infinity, take: () => Promise.resolve() },
    beforeRecord: () => Promise.resolve(),
    onOutcome: () => {},
    onError: (error) => void errors.push(error),
  });
  onTestFinished(() => loop.close());
  return { loop, sent, errors };
}

const queue = (...subjects: string[]) =>
  queueDeliveries(
    given.db,
    given.gala,
    subjects.map((subject) => ({ kind: 'confirmation', subject, since: new Date() })),
  );

test('a loop that is woken sends what was queued, without waiting for its next poll', async () => {
  const { loop, sent, errors } = openLoop();
  await queue('1', '2');
  loop.wake(given.gala.shardId);
  await waitUntil('both are sent', () => sent.length === 2);
  await queue('3');
  loop.wake(given.gala.shardId);
  await waitUntil('the third is sent', () => sent.length === 3);
  expect(sent.toSorted()).toEqual(['1', '2', '3']);
  expect(errors).toEqual([]);
});

test('a loop that is woken while it leases leases again', async () => {
  const { loop, sent } = openLoop();
  // The first statement finds nothing. What is queued while it runs must not wait for a poll.
  loop.wake(given.gala.shardId);
  const queued = queue('1').then(() => loop.wake(given.gala.shardId));
  loop.wake(given.gala.shardId);
  await queued;
  await waitUntil('it is sent', () => sent.length === 1);
});

test('a loop that is closed leases nothing when it is woken', async () => {
  const { loop, sent } = openLoop();
  await loop.close();
  await queue('1');
  loop.wake(given.gala.shardId);
  await loop.close();
  expect(sent).toEqual([]);
});
