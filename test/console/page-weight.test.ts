import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { sql } from 'kysely';
import { expect } from 'vitest';
import { consoleTest } from '../harness/console-test.ts';
import { addressesOf } from '../harness/console-walk.ts';
import { createThings, type ThingsOfEvent } from '../harness/things-of-event.ts';

const { test, given } = consoleTest();

/** The first view of a page, compressed: the page itself, its style sheet and its script. */
const MOST_BYTES = 60 * 1024;

/** Adds 500 events, 200 partners that may sell one of them, and 40 tickets and 300 devices of that one. */
async function addMany({ eventId, gateId }: ThingsOfEvent) {
  const { db } = given.database;
  const prefix = randomUUID().slice(0, 8);
  await sql`
    insert into events (shard_id, ref, name, pass_prefix, venue, starts_at)
    select shard_id, gen_random_uuid(), name || ' ' || n, pass_prefix, 'Tanzbrunnen, Rheinparkweg 1, Köln',
      now() + make_interval(days => n)
    from events, generate_series(1, 500) n where id = ${eventId}`.execute(db);
  await sql`
    insert into partners (name)
    select 'Partner of the north ' || ${prefix} || ' ' || n from generate_series(1, 200) n`.execute(db);
  await sql`
    insert into event_grants (partner_id, event_id)
    select id, ${eventId} from partners where name like ${`%${prefix}%`}`.execute(db);
  await sql`
    insert into tickets (shard_id, event_id, title, capacity, price, last_modified_by)
    select shard_id, id, 'Standing room, block ' || n, 500, 49.9, 'tests'
    from events, generate_series(1, 40) n where id = ${eventId}`.execute(db);
  await sql`
    insert into devices (shard_id, event_id, name, code_expires_at, gates)
    select shard_id, id, 'Scanner ' || n, now(), array[${gateId}]::integer[]
    from events, generate_series(1, 300) n where id = ${eventId}`.execute(db);
}

/** Resolves to a page with what its first view loads. Undefined: it is a stream, a file or a redirect. */
async function firstView(path: string, cookie: string) {
  const abort = new AbortController();
  const answer = await given.request(path, { headers: { cookie }, signal: abort.signal });
  if (!answer.headers.get('content-type')?.startsWith('text/html') || answer.status !== 200) {
    abort.abort();
    return undefined;
  }
  return answer.text();
}

test('the first view of every page weighs 60 KB at most, with one style sheet and one script', async () => {
  const things = await createThings(given.database);
  await addMany(things);
  const { cookie, name } = await given.addOperator('owner', { [things.eventId]: 'owner' });
  const routes = given.pages.filter((route) => !ELSEWHERE.includes(route));
  const assets = new Map<string, number>();
  const wrong: Record<string, unknown> = {};
  let seen = 0;
  const paths = addressesOf(routes, { ...things, name });
  for (const path of [...paths, ...MANY(things)]) {
    const text = await firstView(path, cookie);
    if (text === undefined) continue;
    seen += 1;
    const styles = Array.from(text.matchAll(/<link rel="stylesheet" href="([^"]+)"/g), ([, href]) => href!);
    const scripts = Array.from(text.matchAll(/<script\b[^>]*src="([^"]+)"/g), ([, src]) => src!);
    for (const asset of [...styles, ...scripts])
      if (!assets.has(asset)) assets.set(asset, weightOf(await (await given.request(asset)).text()));
    const all = [...styles, ...scripts].map((asset) => assets.get(asset)!);
    const bytes = all.reduce((sum, one) => sum + one, weightOf(text));
    if (styles.length !== 1 || scripts.length > 1 || bytes > MOST_BYTES)
      wrong[path] = { bytes, styles, scripts };
  }
  expect(wrong).toEqual({});
  expect(seen).toBeGreaterThan(40);
});

const weightOf = (text: string) => gzipSync(text).byteLength;

/** Addresses that belong to another site, and an e-mail that a page shows in a frame. */
const ELSEWHERE = ['/sign-in/provider', '/sign-in/callback', '/events/:eventId/messages/preview/mail'];

/** Forms with long choices. */
const MANY = ({ eventId, ticketId }: ThingsOfEvent) => [
  '/do/eventUpdate/place',
  '/do/jobCancelPreview',
  '/do/tokenCreate',
  `/do/eventGrant?eventId=${eventId}`,
  `/do/jobCancelPreview?eventId=${eventId}`,
  `/do/ticketAllocate?ticketId=${ticketId}`,
  `/do/deviceRevoke?eventId=${eventId}`,
  `/do/gateCreate?eventId=${eventId}`,
];
