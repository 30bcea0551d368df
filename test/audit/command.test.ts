import { userInfo } from 'node:os';
import { expect } from 'vitest';
import { databaseTest } from '../harness/database-test.ts';
import { createFixture } from '../harness/fixture.ts';
import { runCli } from '../harness/service-process.ts';

const { test, given } = databaseTest({ own: 'reads the whole audit log' });

let ticket: string;

test.beforeAll(async () => {
  const { addTicket } = await createFixture(given.database.db);
  ticket = String(await addTicket({ capacity: 100 }));
  await cli('ticket', 'update', ticket, '--capacity', '200', '--by', 'Ann');
  await cli('ticket', 'update', ticket, '--price', '5');
});

async function cli(...args: string[]): Promise<string> {
  const { code, output } = await runCli({ DATABASE_URL: given.database.url }, ...args);
  expect(code, output).toBe(0);
  return output;
}

test('shows who changed what, newest first', async () => {
  const subject = `ticket:${ticket}`;
  const [headings, ...lines] = (await cli('audit')).trimEnd().split('\n');
  expect(headings).toMatch(/^at +by +action +subject +change$/);
  const cells = lines.map((line) => line.split(/ {2,}/).slice(1));
  expect(cells).toEqual([
    [userInfo().username, 'ticket.update', subject, 'price 0 → 5'],
    ['Ann', 'ticket.update', subject, 'capacity 100 → 200'],
  ]);
});

test('--json has it all', async () => {
  const entries = JSON.parse(await cli('audit', '--json', '--limit', '1')) as unknown[];
  expect(entries).toEqual([
    {
      id: expect.any(Number) as number,
      cursor: expect.any(String) as string,
      at: expect.stringMatching(/^20.*Z$/) as string,
      actor: userInfo().username,
      action: 'ticket.update',
      subject: `ticket:${ticket}`,
      eventId: expect.any(Number) as number,
      before: expect.objectContaining({ price: 0, capacity: 200 }) as object,
      after: expect.objectContaining({ price: 5, capacity: 200 }) as object,
    },
  ]);
});

test.for([
  [['--since', '1h'], 2],
  [['--since', '2099-01-01T00:00:00Z'], 0],
  [['--limit', '1'], 1],
  [['--subject', 'ticket:0'], 0],
] as const)('%o chooses', async ([args, count]) => {
  expect(JSON.parse(await cli('audit', '--json', ...args))).toHaveLength(count);
  const subject = `ticket:${ticket}`;
  expect(JSON.parse(await cli('audit', '--json', '--subject', subject))).toHaveLength(2);
});
