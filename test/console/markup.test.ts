import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { expect } from 'vitest';
import { consoleTest } from '../harness/console-test.ts';
import { createFixture } from '../harness/fixture.ts';

const { test, given } = consoleTest();

const MARKUP = '<b>marked</b>';
/** What a service that was taken over could store. */
const FORGED = JSON.stringify({
  html: MARKUP,
  text: MARKUP,
  refused: { [MARKUP]: 1, html: MARKUP },
  waiting: { html: MARKUP },
  deliveries: [{ html: MARKUP }],
  queue: MARKUP,
});

const JOB_ID = '0f1e2d3c-4b5a-4697-8879-6a5b4c3d2e1f';

/** Columns with JSON, and how a test fills them. Null: no page shows them. */
const COLUMNS: Record<string, ((eventId: number) => ReturnType<typeof sql>) | null> = {
  'audit_log.before': null,
  'audit_log.after': (eventId) => sql`
    insert into audit_log (actor, action, subject, before, after)
    values (${MARKUP}, ${MARKUP}, ${`event:${eventId}`}, ${FORGED}::jsonb, ${FORGED}::jsonb)`,
  'partner_audit_log.before': null,
  'partner_audit_log.after': () => sql`
    insert into partner_audit_log (actor, action, subject, before, after)
    values ('partner:1', ${MARKUP}, ${MARKUP}, ${FORGED}::jsonb, ${FORGED}::jsonb)`,
  'processes.facts': () => sql`
    insert into processes (id, service, version, host, facts)
    select gen_random_uuid(), service, ${MARKUP}, ${MARKUP}, ${FORGED}::jsonb
    from unnest(array['api', 'worker', 'delivery', ${MARKUP}]) as service`,
  'batches.answer': null,
  'jobs.filter': (eventId) => sql`
    insert into jobs (shard_id, id, kind, event_id, filter, settings, digest, total, result, created_by)
    values (0, ${JOB_ID}, ${MARKUP}, ${eventId}, ${FORGED}::jsonb, ${FORGED}::jsonb, ${MARKUP}, 3, ${FORGED}::jsonb,
      ${MARKUP})`,
  // No page shows them.
  'jobs.settings': null,
  'jobs.result': null,
  'webhook_endpoints.refused_message': null,
};

test('JSON with a property html is shown as text, wherever JSON is shown', async () => {
  const { db } = given.database;
  const { rows } = await sql<{ column: string }>`
    select table_name || '.' || column_name as column from information_schema.columns
    where table_schema = current_schema() and data_type in ('json', 'jsonb')`.execute(db);
  expect(Object.keys(COLUMNS).toSorted()).toEqual(rows.map(({ column }) => column).toSorted());
  const fixture = await createFixture(db);
  await fixture.addTicket({ title: MARKUP });
  await sql`update events set name = ${MARKUP} where id = ${fixture.eventId}`.execute(db);
  await sql`update partners set name = ${MARKUP + randomUUID()} where id = ${fixture.partnerId}`.execute(db);
  for (const fill of Object.values(COLUMNS)) await fill?.(fixture.eventId).execute(db);
  const { cookie } = await given.addOperator('owner');
  const shown: Record<string, string> = {};
  for (const path of ['/', '/audit', '/processes', '/partners', '/deliveries', '/operators'].concat(
    `/audit?subject=event:${fixture.eventId}`,
    `/events/${fixture.eventId}`,
    `/live/${fixture.eventId}`,
    `/events/${fixture.eventId}/attendees`,
    `/events/${fixture.eventId}/messages`,
    `/jobs/${JOB_ID}`,
    '/jobs',
    `/partners/${fixture.partnerId}`,
  )) {
    const page = await given.request(path, { headers: { cookie } });
    shown[path] = await page.text();
    expect([path, page.status]).toEqual([path, 200]);
    expect([path, shown[path]]).not.toEqual([path, expect.stringContaining(MARKUP)]);
  }
  // It is shown, as text.
  expect(shown['/audit']).toContain('{&#34;html&#34;:&#34;&#60;b&#62;marked');
  expect(shown['/processes']).toContain('&#60;b&#62;marked');
});
