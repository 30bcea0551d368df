import { createHash } from 'node:crypto';
import { switchOn } from '@floodgate/mail/actions';
import { sql } from 'kysely';
import { expect } from 'vitest';
import { consoleTest } from '../harness/console-test.ts';
import { createFixture, type Fixture } from '../harness/fixture.ts';
import { unescaped } from '../harness/html-text.ts';
import { finalizePending } from '../harness/journal.ts';
import { sell } from '../harness/sold.ts';

const { test, given } = consoleTest();

const digestOf = (address: string) => createHash('sha256').update(address).digest('hex');

/** Stores an e-mail as the delivery process leaves it. */
const storeMail = (
  { shardId, eventId }: Fixture,
  serial: number,
  { kind = 'confirmation', state, reason = null }: { kind?: string; state: string; reason?: string | null },
) =>
  sql`
    insert into deliveries (shard_id, event_id, kind, subject, state, reason, attempts, tried_at)
    values (${shardId}, ${eventId}, ${kind}, ${String(serial)}, ${state}, ${reason}, 1, now())`.execute(
    given.database.db,
  );

/** An event with an e-mail that arrived, one that was refused, one that is suppressed, and one that waits. */
async function eventWithMails() {
  const { db } = given.database;
  const fixture = await createFixture(db);
  await switchOn(db, fixture, false);
  const ticketId = await fixture.addTicket();
  const [fine, gone, banned, slow] = await Promise.all(
    ['Fine', 'Gone', 'Banned', 'Slow'].map(async (name) => {
      const person = { fullName: `${name} Person`, emailAddress: `${name.toLowerCase()}@example.com` };
      return (await sell(db, fixture, ticketId, 1, person))[0]!;
    }),
  );
  await finalizePending(db, fixture.shardId);
  await storeMail(fixture, fine!, { state: 'sent' });
  await storeMail(fixture, gone!, { state: 'undeliverable', reason: '550 5.1.1' });
  await storeMail(fixture, banned!, { state: 'suppressed', reason: 'suppressed' });
  await storeMail(fixture, slow!, { state: 'retry', reason: '450 4.2.1' });
  await sql`
    insert into mail_suppressions (digest, reason, event_id)
    values (${digestOf('banned@example.com')}, '550 5.1.1', ${fixture.eventId}) on conflict do nothing`.execute(
    db,
  );
  return fixture;
}

const open = async (path: string, cookie: string, language = 'en') => {
  const answer = await given.request(path, { headers: { cookie, 'accept-language': language } });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
};

/** Returns the row of a table that has a text. */
const rowOf = (page: string, text: string) => page.split('<tr>').find((row) => row.includes(text)) ?? '';

test('the e-mails of an event are counted by kind and state, and those who got none are listed with what to do', async () => {
  const { eventId } = await eventWithMails();
  const { cookie } = await given.addOperator('operator');
  const { text } = await open(`/events/${eventId}/messages`, cookie);
  expect(text).toContain('E-mails are on');
  expect(
    rowOf(text.slice(text.indexOf('E-mails by kind')), '>Pass<').replaceAll(/<[^>]+>|\s+/g, ' '),
  ).toMatch(/1 .*1 .*1 .*1/);
  expect(text).not.toContain('Fine Person');
  const gone = rowOf(text, 'Gone Person');
  expect(gone).toContain('The address does not exist.');
  expect(gone).toContain('Correct the address. Send it again.');
  expect(gone).toContain('/do/registrationCorrect?');
  expect(gone).toContain('/do/mailResend?');
  const banned = unescaped(rowOf(text, 'Banned Person'));
  expect(banned).toContain('Lift the suppression of the address.');
  expect(banned).toContain(`/do/mailUnsuppress?address=${digestOf('banned@example.com')}`);
  expect(rowOf(text, 'Slow Person')).toContain('It is tried again by itself.');
});

test('reasons and remedies are in German, too', async () => {
  const { eventId } = await eventWithMails();
  const { cookie } = await given.addOperator('operator');
  const { text } = await open(`/events/${eventId}/messages`, cookie, 'de');
  expect(rowOf(text, 'Gone Person')).toContain('Die Adresse gibt es nicht.');
  expect(rowOf(text, 'Gone Person')).toContain('Korrigieren Sie die Adresse. Senden Sie die E-Mail erneut.');
});

test('an address is corrected and the pass sent again from the list', async () => {
  const fixture = await eventWithMails();
  const { cookie } = await given.addOperator('operator');
  const path = `/events/${fixture.eventId}/messages`;
  const linkTo = (page: string, form: string) =>
    unescaped(new RegExp(`href="(/do/${form}[^"]+)"`).exec(rowOf(page, 'Gone Person'))![1]!);
  const submit = async (href: string, fields: Record<string, string>) => {
    const url = new URL(href, 'http://console');
    const body = new URLSearchParams([...url.searchParams, ...Object.entries(fields)]);
    const answer = await given.request(url.pathname, { method: 'POST', body, headers: { cookie } });
    expect(answer.status).toBe(303);
    return open(answer.headers.get('location')!, cookie);
  };
  const list = await open(path, cookie);
  const form = await open(linkTo(list.text, 'registrationCorrect'), cookie);
  expect(form.text).toContain('value="gone@example.com"');
  const corrected = await submit(linkTo(list.text, 'registrationCorrect'), {
    emailAddress: 'back@example.com',
    'was.emailAddress': 'gone@example.com',
  });
  expect(rowOf(corrected.text, 'Gone Person')).toContain('back@example.com');
  const again = await open(linkTo(corrected.text, 'mailResend'), cookie);
  expect(again.text).toContain('Gone Person gets the e-mail with the pass again, at back@example.com.');
  const sent = await submit(linkTo(corrected.text, 'mailResend'), {});
  expect(sent.text).toContain('Done: Send the pass again');
  expect(sent.text).not.toContain('Gone Person');
});

test('e-mails are paused, resumed, turned off and on, and each form says what follows', async () => {
  const { eventId } = await createFixture(given.database.db);
  const { cookie } = await given.addOperator('operator');
  const path = `/events/${eventId}/messages`;
  const turn = async (id: string, consequence: string) => {
    const href = `/do/${id}?${new URLSearchParams({ eventId: String(eventId), back: path }).toString()}`;
    expect((await open(path, cookie)).text).toContain(`/do/${id}?`);
    expect((await open(href, cookie)).text).toContain(consequence);
    const body = new URLSearchParams({ eventId: String(eventId), back: path });
    await given.request(`/do/${id}`, { method: 'POST', body, headers: { cookie } });
    return (await open(path, cookie)).text;
  };
  expect((await open(path, cookie)).text).toContain('E-mails are off');
  expect(await turn('mailEnable', 'Each attendee gets the pass by e-mail.')).toContain('E-mails are on');
  expect(await turn('mailPause', 'Queued e-mails wait.')).toContain('E-mails are paused');
  expect(await turn('mailResume', 'What waits is sent now.')).toContain('E-mails are on');
  expect(await turn('mailDisable', 'what waits is dropped')).toContain('E-mails are off');
});

test('each kind of e-mail is shown in each language, in a frame that runs nothing', async () => {
  const { db } = given.database;
  const { eventId } = await createFixture(db);
  await sql`update events set name = ${'Ball <b>der Nacht</b>'}, venue = 'Tanzbrunnen' where id = ${eventId}`.execute(
    db,
  );
  const { cookie } = await given.addOperator('viewer');
  const news = {
    confirmation: 'You are registered',
    'event-updated': 'has changed',
    cancellation: 'was cancelled',
    'waiting-offer': 'waiting list',
  };
  const texts = new Set<string>();
  for (const [kind, english] of Object.entries(news)) {
    for (const language of ['en', 'de']) {
      const query = `kind=${kind}&language=${language}`;
      const page = await open(`/events/${eventId}/messages/preview?${query}`, cookie);
      expect([query, page.status]).toEqual([query, 200]);
      expect(page.text).toContain(`src="/events/${eventId}/messages/preview/mail?`);
      expect(page.text).toContain('sandbox=""');
      const mail = await open(`/events/${eventId}/messages/preview/mail?${query}`, cookie);
      const policy = mail.headers.get('content-security-policy')!;
      expect(policy).toContain('sandbox');
      expect(policy).not.toContain('script-src');
      expect(mail.text).toContain('Ball &#60;b&#62;der Nacht&#60;/b&#62;');
      expect(mail.text).toContain(`<html lang="${language}">`);
      if (language === 'en') expect([kind, mail.text]).toEqual([kind, expect.stringContaining(english)]);
      texts.add(mail.text);
    }
  }
  expect(texts.size).toBe(8);
});

test('the counts of a large event stop at a number, and say so', async () => {
  const { db } = given.database;
  const { eventId, shardId } = await createFixture(db);
  await sql`
    insert into deliveries (shard_id, event_id, kind, subject, state)
    select ${shardId}, ${eventId}, 'confirmation', number::text, 'sent' from generate_series(1, 50002) number`.execute(
    db,
  );
  const { session, cookie } = await given.addOperator('viewer');
  const { body } = await given.call(session, `GET /events/${eventId}/mail`);
  expect(body).toEqual({
    eventId,
    switch: 'off',
    counts: [{ kind: 'confirmation', state: 'sent', count: 50_001 }],
    uncounted: ['confirmation'],
  });
  expect((await open(`/events/${eventId}/messages`, cookie)).text).toContain(
    'There are more than 50,000 e-mails of this kind: Pass.',
  );
});

test('an operator of another event sees nothing of them', async () => {
  const [own, other] = [await createFixture(given.database.db), await createFixture(given.database.db)];
  const { cookie } = await given.addOperator(null, { [own.eventId]: 'operator' });
  for (const end of ['', '/preview', '/preview/mail']) {
    expect((await open(`/events/${own.eventId}/messages${end}`, cookie)).status).toBe(200);
    expect((await open(`/events/${other.eventId}/messages${end}`, cookie)).status).toBe(404);
  }
});

test('nobody is said to have got the e-mails of a test event, nor of one that has sent none', async () => {
  const { db } = given.database;
  const fixture = await createFixture(db);
  const { cookie } = await given.addOperator('operator');
  const textOf = async () => (await open(`/events/${fixture.eventId}/messages`, cookie)).text;
  expect(await textOf()).not.toContain('Everybody got their e-mails.');
  await sql`update events set mode = 'test' where id = ${fixture.eventId}`.execute(db);
  expect(await textOf()).toContain('Nobody gets an e-mail about a test event.');
});
