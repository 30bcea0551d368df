import { HOUSE_PARTNER_ID } from '@floodgate/database';
import { sql } from 'kysely';
import { expect } from 'vitest';
import { consoleTest } from '../harness/console-test.ts';
import { createFixture, type Fixture } from '../harness/fixture.ts';
import { formsIn } from '../harness/html-forms.ts';
import { unescaped } from '../harness/html-text.ts';
import { finalizePending } from '../harness/journal.ts';
import { sell } from '../harness/sold.ts';
import { runJobs } from '../jobs/running.ts';

const { test, given } = consoleTest();

const JOB = /^\/jobs\/[0-9a-f-]{36}\?done=eventCallOff$/;

const open = async (path: string, cookie: string) => {
  const answer = await given.request(path, { headers: { cookie } });
  return { status: answer.status, text: await answer.text() };
};

/** Returns the address of a job from that of the page after its form. */
const withoutDone = (location: string) => location.replace(/\?done=\w+$/, '');

/** Returns the link of a page to a form. */
function linkTo(text: string, form: string) {
  const found = new RegExp(`href="(/do/${form}[^"]*)"`).exec(text)?.[1];
  if (found === undefined) throw new Error(`no link to ${form}`);
  return unescaped(found);
}

/** Fills the form of a page, and sends it. Returns the status, the page, and where it leads. */
async function send(form: string, cookie: string, typed: Record<string, string> = {}) {
  const action = /<form class="card fields" method="post" action="([^"]+)"/.exec(form)![1]!;
  const hidden = [...form.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)];
  const fields = hidden.map(([, name, value]): [string, string] => [name!, unescaped(value!)]);
  const body = new URLSearchParams([...fields, ...Object.entries(typed)]);
  const answer = await given.request(action, { method: 'POST', body, headers: { cookie } });
  return { status: answer.status, location: answer.headers.get('location') ?? '', text: await answer.text() };
}

async function soldEvent(count: number): Promise<Fixture & { ticketId: number }> {
  const { db } = given.database;
  const fixture = await createFixture(db);
  const ticketId = await fixture.addTicket({ title: 'Stehplatz', price: 49.9 });
  await sell(db, fixture, ticketId, count, { fullName: 'Ann Lee' });
  await finalizePending(db, fixture.shardId);
  return { ...fixture, ticketId };
}

test('an event is called off from its attendees: what follows, what is to pay back, and the number typed', async () => {
  const { eventId, shardId } = await soldEvent(120);
  const { db } = given.database;
  await sql`update events set currency = 'EUR' where id = ${eventId}`.execute(db);
  const { cookie } = await given.addOperator('operator');
  const attendees = await open(`/events/${eventId}/attendees`, cookie);
  const preview = await open(linkTo(attendees.text, 'eventCallOff'), cookie);
  for (const part of [
    'The sale of all tickets stops for good. On sale now: 1.',
    '120 registrations are cancelled, and those that come until the sale has stopped.',
    'Attendees who got a confirmation get an e-mail',
    'To pay back',
    '€5,988.00',
    'Type the number 120 to confirm',
  ])
    expect(preview.text).toContain(part);
  const untyped = await send(preview.text, cookie, { confirmed: '12' });
  expect(untyped.status).toBe(422);
  expect(untyped.text).toContain('so that nothing large happens by mistake');
  const started = await send(preview.text, cookie, { confirmed: '120' });
  expect([started.status, started.location]).toEqual([303, expect.stringMatching(JOB)]);
  const running = await open(started.location, cookie);
  expect(running.text).toContain('Call off Gala');
  expect(running.text).toContain('0 of 120 registrations cancelled');
  expect(running.text).toContain('data-refresh');
  expect(running.text).toContain('Tickets taken off sale: 1');
  await runJobs(db);
  await finalizePending(db, shardId);
  const done = await open(started.location, cookie);
  expect(done.text).toContain('120 of 120 registrations cancelled');
  expect(done.text).not.toContain('data-refresh');
  expect(done.text).not.toContain('/do/jobPause');
  expect(done.text).toContain('€5,988.00');
  expect(unescaped((await open('/jobs', cookie)).text)).toContain(`href="${withoutDone(started.location)}"`);
});

test('what comes between preview and start is not treated, and a start on other numbers is refused with a new preview', async () => {
  const fixture = await soldEvent(3);
  const { db } = given.database;
  const { cookie } = await given.addOperator('operator');
  const list = await open(`/events/${fixture.eventId}/attendees?name=ann&state=confirmed`, cookie);
  const preview = await open(linkTo(list.text, 'jobCancel'), cookie);
  expect(preview.text).toContain('3 registrations are cancelled, also after the deadline.');
  expect(preview.text).toContain('Ann Lee');
  // Fewer than 100 need not be typed.
  expect(preview.text).not.toContain('Type the number');
  await sell(db, fixture, fixture.ticketId, 1, { fullName: 'Ann Lee' });
  await finalizePending(db, fixture.shardId);
  const first = await sql<{ serial: number }>`
    select min(serial) as serial from registrations where event_id = ${fixture.eventId}`.execute(db);
  await sql`update registrations set cancelled_at = now() where serial = ${first.rows[0]!.serial}`.execute(
    db,
  );
  const refused = await send(preview.text, cookie);
  expect(refused.status).toBe(409);
  expect(refused.text).toContain('the preview had 3 registrations, and now there are 2');
  expect(refused.text).toContain('3 registrations are cancelled, also after the deadline.');
  const started = await send(refused.text, cookie);
  expect(started.status).toBe(303);
  await runJobs(db);
  const { text } = await open(started.location, cookie);
  expect(text).toContain('3 of 3 registrations cancelled');
  // What a filter says about people is not kept.
  expect(text).toContain('a person (not kept)');
  expect(text).toContain('<strong>State</strong>: Confirmed');
});

test('a job is paused, goes on, and is ended early; each form says what follows', async () => {
  const { eventId } = await soldEvent(5);
  const { cookie } = await given.addOperator('operator');
  const list = await open(`/events/${eventId}/attendees?state=confirmed`, cookie);
  const preview = await open(linkTo(list.text, 'jobCancel'), cookie);
  const { location } = await send(preview.text, cookie);
  const press = async (id: string, consequence: string) => {
    const form = await open(linkTo((await open(location, cookie)).text, id), cookie);
    expect(form.text).toContain(consequence);
    expect((await send(form.text, cookie)).status).toBe(303);
    return (await open(location, cookie)).text;
  };
  expect(await press('jobPause', 'goes on when you want')).toContain('Paused');
  expect(await press('jobResume', 'goes on where it stopped')).toContain('Running');
  expect(await press('jobAbort', '5 registrations are left as they are')).toContain('Stopped early');
});

test('what a job could not do is listed with the reason, and can be tried again', async () => {
  const fixture = await soldEvent(4);
  const { db } = given.database;
  const { cookie } = await given.addOperator('operator');
  const list = await open(`/events/${fixture.eventId}/attendees?admitted=false`, cookie);
  const preview = await open(linkTo(list.text, 'jobCancel'), cookie);
  expect(preview.text).toContain('Seats that let in a person meanwhile are left out.');
  const { location } = await send(preview.text, cookie);
  const { rows } = await sql<{ serial: number }>`
    select serial from registrations where event_id = ${fixture.eventId} order by serial limit 1`.execute(db);
  const { serial } = rows[0]!;
  const id = location.slice('/jobs/'.length, location.indexOf('?'));
  await runJobs(db);
  await sql`
    insert into job_failures (shard_id, job_id, item, reason)
    values (${fixture.shardId}, ${id}, ${String(serial)}, 'admitted')`.execute(db);
  await sql`update jobs set failed = 1, done = done - 1 where id = ${id}`.execute(db);
  const { text } = await open(location, cookie);
  expect(text).toContain('The seat has let in a person.');
  expect(text).toContain(`GALA-${fixture.eventId}-${serial}-…`);
  expect(text).toContain('/do/registrationCancel?');
  expect(linkTo(text, 'jobCancel')).toContain('admitted=false');
});

test('passes are sent again by filter, and a preview says that e-mails are off', async () => {
  const { eventId } = await soldEvent(2);
  const { db } = given.database;
  const { cookie } = await given.addOperator('operator');
  const attendees = await open(`/events/${eventId}/attendees`, cookie);
  const preview = await open(linkTo(attendees.text, 'jobResend'), cookie);
  expect(preview.text).toContain('2 attendees get the e-mail with their pass again.');
  expect(preview.text).toContain('E-mails of this event are off, so this cannot start.');
  expect((await send(preview.text, cookie)).status).toBe(409);
  await given.request('/do/mailEnable', {
    method: 'POST',
    body: new URLSearchParams({ eventId: String(eventId), fromNow: 'true' }),
    headers: { cookie },
  });
  const ready = await open(linkTo(attendees.text, 'jobResend'), cookie);
  const { location } = await send(ready.text, cookie);
  await runJobs(db);
  expect((await open(location, cookie)).text).toContain('2 of 2 e-mails queued');
});

const PREVIEWS = { jobCancelPreview: 'jobCancel', jobResendPreview: 'jobResend' };

/** Sends the filter of a preview. */
const previewBy = async (id: string, cookie: string, filter: Record<string, string>) => {
  const body = new URLSearchParams(filter);
  const answer = await given.request(`/do/${id}`, { method: 'POST', body, headers: { cookie } });
  return { status: answer.status, text: await answer.text() };
};
const actionsIn = (page: string) =>
  formsIn(page)
    .map(({ action }) => action)
    .filter((action) => action.startsWith('/do/'));

test.for(Object.entries(PREVIEWS))('%s lists the first people once, with one form', async ([id, start]) => {
  const fixture = await createFixture(given.db);
  const ticketId = await fixture.addTicket();
  const serials = await sell(given.db, fixture, ticketId, 14, { fullName: 'Ann Lee' });
  await finalizePending(given.db, fixture.shardId);
  const cancelled = sql.join(serials.slice(0, 11));
  await sql`update registrations set cancelled_at = now() where serial in (${cancelled})`.execute(given.db);
  const { cookie } = await given.addOperator('operator');
  const eventId = String(fixture.eventId);
  // What somebody types is a time of the event's zone.
  const filter = { eventId, name: 'ann', soldFrom: '2020-01-01T10:00', back: '/jobs' };
  const { status, text } = await previewBy(id, cookie, filter);
  expect(status).toBe(200);
  // Those that are cancelled already are not the first ones.
  expect(text.match(/>Ann Lee</g)).toHaveLength(3);
  expect(actionsIn(text)).toEqual([`/do/${start}`]);
  expect(formsIn(text).find(({ action }) => action === `/do/${start}`)!.values).toMatchObject({
    name: 'ann',
    soldFrom: '2020-01-01T10:00:00Z',
    expect: '3',
  });
  expect(text.match(/href="\/jobs"[^>]*>Back</g)).toHaveLength(1);
  expect(text).not.toContain('>Continue<');
});

test.for(Object.entries(PREVIEWS))(
  '%s of nobody starts nothing, and leads to the filter',
  async ([id, start]) => {
    const { eventId } = await soldEvent(1);
    const { cookie } = await given.addOperator('operator');
    const filter = { eventId: String(eventId), name: 'zoe' };
    const pages = [
      await previewBy(id, cookie, filter),
      await open(`/do/${start}?${new URLSearchParams(filter).toString()}`, cookie),
      // A start that is sent nevertheless.
      await previewBy(start, cookie, { ...filter, expect: '0', upTo: '0' }),
    ];
    for (const { text } of pages) {
      expect(text).toContain('Nobody matches, so there is nothing to do.');
      expect(actionsIn(text)).toEqual([`/do/${id}`]);
      const form = formsIn(text).find(({ action }) => action === `/do/${id}`)!;
      expect(form.values).toMatchObject(filter);
      expect(Object.keys(form.values)).not.toContain('expect');
    }
    const changed = await previewBy(id, cookie, { ...filter, name: 'ann' });
    expect(actionsIn(changed.text)).toEqual([`/do/${start}`]);
  },
);

test('an operator who may only read sees what a filter chooses, and starts nothing', async () => {
  const { eventId } = await soldEvent(2);
  const { cookie } = await given.addOperator('viewer');
  const { text } = await previewBy('jobCancelPreview', cookie, { eventId: String(eventId) });
  expect(text).toContain('2 registrations are cancelled');
  expect(actionsIn(text)).toEqual(['/do/jobCancelPreview']);
});

test('a page that calls off an event, and the job, say that nobody paid for guests', async () => {
  const fixture = await soldEvent(2);
  const { db } = given.database;
  await sell(db, { ...fixture, partnerId: HOUSE_PARTNER_ID }, fixture.ticketId, 3);
  await finalizePending(db, fixture.shardId);
  const { cookie } = await given.addOperator('operator');
  const toPayBack = (page: string) => page.replaceAll(/<[^>]*>|\s+/g, ' ').replaceAll(/ +/g, ' ');
  const preview = await open(`/do/eventCallOff?eventId=${fixture.eventId}`, cookie);
  expect(toPayBack(preview.text)).toMatch(/99\.80 House Nothing: they are guests/);
  const { location } = await send(preview.text, cookie);
  await runJobs(db);
  await finalizePending(db, fixture.shardId);
  expect(toPayBack((await open(location, cookie)).text)).toMatch(/99\.80 House Nothing: they are guests/);
});

test('an event without registrations is called off once', async () => {
  const { eventId } = await soldEvent(0);
  const { cookie } = await given.addOperator('operator');
  const path = `/do/eventCallOff?eventId=${eventId}`;
  const preview = await open(path, cookie);
  expect(preview.text).toContain('The sale of all tickets stops for good. On sale now: 1.');
  expect(preview.text).toContain('Calling off an event cannot be undone.');
  expect(preview.text).toContain('The event has no registrations, so none is cancelled.');
  expect(preview.text).not.toContain('class="alert"');
  const answer = await send(preview.text, cookie);
  expect([answer.status, answer.location]).toEqual([303, `/events/${eventId}?done=eventCallOff`]);
  const after = await open(answer.location, cookie);
  expect(after.text).toContain('<strong>Done: Call off an event</strong>');
  expect(after.text).not.toContain('class="alert"');
  const again = await open(path, cookie);
  expect(again.text).toContain('The event is called off, and no registration is left.');
  expect(again.text).not.toContain('class="alert"');
  expect(actionsIn(again.text)).toEqual([]);
});

test('a preview of nothing says so, and an operator of an event sees its jobs only', async () => {
  const [own, other] = [await soldEvent(1), await soldEvent(1)];
  const owner = await given.addOperator('owner');
  const start = async ({ eventId }: Fixture) => {
    const list = await open(`/events/${eventId}/attendees?state=confirmed`, owner.cookie);
    return (await send((await open(linkTo(list.text, 'jobCancel'), owner.cookie)).text, owner.cookie))
      .location;
  };
  const [ofOwn, ofOther] = [await start(own), await start(other)];
  await runJobs(given.database.db);
  const empty = `/do/jobCancel?eventId=${own.eventId}&state=confirmed`;
  expect((await open(empty, owner.cookie)).text).toContain('Nobody matches, so there is nothing to do.');
  const limited = await given.addOperator(null, { [own.eventId]: 'operator' });
  const text = unescaped((await open('/jobs', limited.cookie)).text);
  expect(text).toContain(`href="${withoutDone(ofOwn)}"`);
  expect(text).not.toContain(ofOther.slice(0, ofOther.indexOf('?')));
  expect((await open(ofOwn, limited.cookie)).status).toBe(200);
  expect((await open(ofOther, limited.cookie)).status).toBe(404);
});
