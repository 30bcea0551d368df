import { afterAll, expect } from 'vitest';
import { databaseTest } from '../harness/database-test.ts';
import { createFixture } from '../harness/fixture.ts';
import { startInProcessApi, type InProcessApi } from '../harness/in-process-api.ts';
import { attendee, PartnerClient } from '../harness/partner-client.ts';

const { test, given } = databaseTest();

let apis: InProcessApi[];

test.beforeAll(async () => {
  apis = await Promise.all([
    startInProcessApi({ DATABASE_URL: given.database.url }),
    startInProcessApi({ DATABASE_URL: given.database.url }),
  ]);
});

afterAll(async () => {
  await Promise.all(apis.map((api) => api.close()));
});

test('200 concurrent requests on 5 seats, over two API processes, give exactly 5 seats', async () => {
  const fixture = await createFixture(given.database.db);
  const ticketId = await fixture.addTicket({ capacity: 5 });
  const clients = apis.map((api) => new PartnerClient(api.baseUrl, fixture));
  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, index) =>
      clients[index % 2]!.register(attendee(ticketId, { emailAddress: `guest${index}@example.com` })),
    ),
  );

  const granted = answers.filter(({ body }) => body.responseCode === '00');
  expect(granted).toHaveLength(5);
  expect(new Set(granted.map(({ body }) => body.responseData)).size).toBe(5);
  expect(answers.filter(({ body }) => body.responseCode === '32')).toHaveLength(195);
  const ticket = await given.database.db
    .selectFrom('tickets')
    .select('taken')
    .where('id', '=', ticketId)
    .executeTakeFirstOrThrow();
  expect(ticket.taken).toBe(5);
});
