import type { WebhookDrain } from '../results.ts';
import { left, right, tableOf, type Table } from './columns.ts';
import { figure, figureWithRange } from './figures.ts';
import { spread } from './statistics.ts';

type Case = { name: string; rounds: readonly WebhookDrain[] };

/** Returns a row for each set of receivers, over all rounds. */
export function webhooksTable(drains: readonly WebhookDrain[]): Table {
  const of = (title: string, read: (one: WebhookDrain) => number) =>
    right<Case>(title, ({ rounds }) => figureWithRange(spread(rounds.map(read))));
  const columns = [
    left<Case>('told', ({ name }) => name),
    right<Case>('rounds', ({ rounds }) => `${rounds.length}`),
    of('registrations/s', ({ perSecond }) => perSecond),
    of('messages/s', ({ messages, seconds }) => messages / seconds),
    right<Case>('registrations in a message', ({ rounds: [first] }) =>
      figure(first!.registrations / first!.messages),
    ),
    of('delivery µs', ({ cpuMicros }) => cpuMicros.delivery),
    of('Postgres µs', ({ cpuMicros }) => cpuMicros.postgres),
  ];
  const cases = [...Map.groupBy(drains, ({ name }) => name)].map(([name, rounds]) => ({ name, rounds }));
  return tableOf('Webhooks: what is told per second, and CPU time per registration', columns, cases);
}
