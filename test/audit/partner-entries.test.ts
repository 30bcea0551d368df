import { expirePartnerEntries, readAuditLog } from '@floodgate/audit';
import { sql } from 'kysely';
import { expect, onTestFinished } from 'vitest';
import { connectInTest } from '../harness/connect-in-test.ts';
import { underTest } from '../harness/service-roles.ts';
import { databaseTest } from '../harness/database-test.ts';

const { test, given } = databaseTest({ own: 'reads the whole audit log' });

const insert = (partnerId: number, count: number, daysAgo: number) =>
  sql`
    insert into partner_audit_log (at, actor, action, subject)
    select now() - make_interval(days => ${daysAgo}::integer), ${`partner:${partnerId}`}, 'webhook.pause', 'webhook:' || number
    from generate_series(1, ${count}::integer) as number`.execute(given.database.db);

test("partners' entries are kept for 90 days, and the latest 1,000 of each", async () => {
  await insert(1, 5, 91);
  await insert(1, 1_200, 1);
  await insert(2, 5, 91);
  await insert(2, 3, 89);
  await sql`insert into audit_log (at, actor, action, subject) values (now() - interval '5 years', 'ann', 'a', 'b')`.execute(
    given.database.db,
  );
  const url = underTest('delivery', { DATABASE_URL: given.database.url })['DATABASE_URL']!;
  const delivery = connectInTest(url);
  onTestFinished(() => delivery.destroy());
  await expirePartnerEntries(delivery);
  const entries = await readAuditLog(given.database.db, { limit: 5_000 });
  const countOf = (actor: string) => entries.filter((entry) => entry.actor === actor).length;
  expect([countOf('partner:1'), countOf('partner:2'), countOf('ann')]).toEqual([1_000, 3, 1]);
  // The latest are kept.
  const ofFirst = entries.filter(({ actor }) => actor === 'partner:1').map(({ subject }) => subject);
  expect([ofFirst.at(0), ofFirst.at(-1)]).toEqual(['webhook:1200', 'webhook:201']);
  expect(entries.at(-1)).toMatchObject({ actor: 'ann' });
});
