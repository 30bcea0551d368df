import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { expect } from 'vitest';
import { consoleTest } from '../harness/console-test.ts';
import { addressesOf } from '../harness/console-walk.ts';
import { addJob } from '../harness/example-job.ts';
import { createFixture } from '../harness/fixture.ts';
import { textOf } from '../harness/page-text.ts';
import { createThings } from '../harness/things-of-event.ts';
import { waitUntil } from '../harness/wait-until.ts';

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
    values (${MARKUP}, ${MARKUP}, ${`event:${eventId}`}, '{"refused": 1}', ${FORGED}::jsonb)`,
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
  'sale_seconds.refused': (eventId) => sql`
    insert into sale_seconds (shard_id, event_id, at, accepted, refused, tickets)
    select shard_id, id, now(), 1, json_build_object(${MARKUP}::text, 1), ${FORGED}::json
    from events where id = ${eventId}`,
  'sale_seconds.tickets': null,
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
  await waitUntil('the console has read the processes', async () => {
    const health = await given.request('/health', { headers: { cookie } });
    return (await health.text()).includes('&#60;b&#62;marked');
  });
  const things = { ...(await createThings(given.database)), partnerId: fixture.partnerId };
  const jobId = await addJob(db, fixture);
  const ofEvent = given.pages.filter((route) => /^[^:]*:eventId[^:]*$/.test(route));
  const paths = [
    ...addressesOf(given.pages, { ...things, jobId }),
    ...addressesOf(ofEvent, { eventId: fixture.eventId, passReference: things.passReference }),
    `/audit?subject=event:${fixture.eventId}`,
  ].filter((path) => !path.startsWith(`/events/${fixture.eventId}/door/story`));
  const shown: Record<string, string> = {};
  for (const path of paths.filter((one) => !one.startsWith('/sign-in/'))) {
    const abort = new AbortController();
    const page = await given.request(path, { headers: { cookie }, signal: abort.signal });
    if (!page.headers.get('content-type')?.startsWith('text/html')) {
      // A stream, or a file.
      abort.abort();
      continue;
    }
    shown[path] = await page.text();
    expect([path, page.status]).toEqual([path, 200]);
    expect([path, shown[path]]).not.toEqual([path, expect.stringContaining(MARKUP)]);
  }
  // It is shown, as text.
  const json = '{"html":"<b>marked</b>","<b>marked</b>":1}';
  expect(textOf(shown['/audit']!)).toContain(json);
  expect(textOf(shown['/health']!)).toContain(MARKUP);
});
