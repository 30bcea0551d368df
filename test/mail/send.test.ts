import { sql } from 'kysely';
import { beforeEach, describe, expect } from 'vitest';
import { perform } from '@floodgate/audit';
import { pauseMailAction, resumeMailAction } from '@floodgate/mail/actions';
import { MAX_SENDING } from '@floodgate/deliveries';
import { digestOf } from '@floodgate/mail/kinds/refusals';
import { readLags } from '@floodgate/journal';
import { cancelRegistrationAction } from '@floodgate/registrations/actions';
import { emptyTables } from '../harness/empty-tables.ts';
import { createFixture } from '../harness/fixture.ts';
import { startMailServer } from '../harness/mail-server.ts';
import { waitUntil } from '../harness/wait-until.ts';
import {
  addresses,
  confirm,
  deliveriesOf,
  enable,
  makeDue,
  startMails,
  waitForState,
} from './mail-process.ts';
import { eventTest } from '../harness/event-test.ts';
import { tablesOf } from '../harness/stored-tables.ts';

const { test, given } = eventTest({ own: 'changes the schema, the roles or the settings of its database' });

// E-mails to attendees, by real delivery processes into a real SMTP server.

test.override('ticket', { capacity: 100_000 });

beforeEach(async () => {
  // Others' would be sent as well.
  await emptyTables(given.database.db, 'journal_consumers', 'deliveries', 'mail_suppressions');
});

const confirmThese = (these: readonly string[]) =>
  confirm(given.database.db, given.gala, given.ticketId, these);

/** How often each address got an e-mail. */
const countsOf = (mails: readonly { to: string }[]) =>
  Object.fromEntries([...Map.groupBy(mails, ({ to }) => to)].map(([to, all]) => [to, all.length]));
const HOUR_MS = 3_600_000;
/** The first pause after a server has accepted nothing: 500 ms, less the jitter. */
const SHORTEST_PAUSE_MS = 375;
const isUntried = ({ attempts }: { attempts: number }) => attempts === 0;
const once = (these: readonly string[]) => Object.fromEntries(these.map((to) => [to, 1]));

test('everybody who is confirmed gets one e-mail, whether before it was switched on or after', async () => {
  const server = await startMailServer();
  const [before, after] = [addresses(3, 'before'), addresses(600, 'after')];
  await confirmThese(before);
  await enable(given.database.db, given.gala);
  await startMails(given.database, { SMTP_URL: server.url });
  await confirmThese(after);
  await waitForState(given.database.db, given.gala, 'sent', 603);
  expect(countsOf(server.mails)).toEqual(once([...before, ...after]));
  expect(new Set(server.mails.map(({ messageId }) => messageId)).size).toBe(603);
});

test('who has cancelled by then, has an address that nobody can have, or is not of this event, gets none', async () => {
  const server = await startMailServer();
  const other = await createFixture(given.database.db);
  await confirm(given.database.db, other, await other.addTicket(), addresses(1, 'other'));
  await confirmThese(['a@nobody.invalid', 'b@nobody.test', 'c@nobody.example']);
  await confirmThese(addresses(1, 'cancelled'));
  const [last] = await tablesOf(given.database.db)
    .selectFrom('registrations')
    .select(['serial', 'pass_code'])
    .where('event_id', '=', given.gala.eventId)
    .orderBy('serial', 'desc')
    .limit(1)
    .execute();
  const passReference = `GALA-${given.gala.eventId}-${last!.serial}-${last!.pass_code}`;
  await perform(given.database.db, cancelRegistrationAction, { passReference }, 'test');
  await confirmThese(addresses(1));
  await enable(given.database.db, given.gala);
  await startMails(given.database, { SMTP_URL: server.url });
  await waitForState(given.database.db, given.gala, 'sent', 1);
  expect(countsOf(server.mails)).toEqual(once(addresses(1)));
  expect((await deliveriesOf(given.database.db, given.gala)).map(({ reason }) => reason)).toEqual([
    'reserved address',
    'reserved address',
    'reserved address',
    'cancelled',
    null,
  ]);
});

test('an event whose e-mails cannot be queued delays no other event, and catches up', async () => {
  const { db } = given.database;
  const server = await startMailServer();
  const broken = await createFixture(db);
  await confirm(db, broken, await broken.addTicket(), addresses(2, 'broken'));
  await confirmThese(addresses(3));
  await sql`
    create function refuse_event() returns trigger language plpgsql as $$
    begin
      raise exception 'this event is broken';
    end $$`.execute(db);
  await sql`
    create trigger refuse_event before insert on deliveries
    for each row when (new.event_id = ${sql.lit(broken.eventId)}) execute function refuse_event()`.execute(
    db,
  );
  try {
    for (const fixture of [broken, given.gala]) await enable(db, fixture);
    await startMails(given.database, { SMTP_URL: server.url });
    await waitForState(db, given.gala, 'sent', 3);
    expect(countsOf(server.mails)).toEqual(once(addresses(3)));
  } finally {
    await sql`drop function refuse_event cascade`.execute(db);
  }
  await waitForState(db, broken, 'sent', 2);
});

test('who cancels while the e-mail is queued gets none', async () => {
  const server = await startMailServer();
  const { port } = new URL(server.url);
  await server.stop();
  await enable(given.database.db, given.gala);
  await confirmThese(addresses(2));
  await startMails(given.database, { SMTP_URL: server.url });
  // Else one could be loaded before the cancellation and sent after it.
  await waitUntil('both wait for an hour', async () => {
    const [updated] = await makeDue(given.database.db, 'queued', new Date(Date.now() + HOUR_MS));
    return updated?.numUpdatedRows === 2n;
  });
  const first = await tablesOf(given.database.db)
    .selectFrom('registrations')
    .select(['serial', 'pass_code'])
    .where('event_id', '=', given.gala.eventId)
    .orderBy('serial')
    .executeTakeFirstOrThrow();
  const passReference = `GALA-${given.gala.eventId}-${first.serial}-${first.pass_code}`;
  await perform(given.database.db, cancelRegistrationAction, { passReference }, 'test');
  const again = await startMailServer(Number(port));
  await makeDue(given.database.db, 'queued');
  await waitForState(given.database.db, given.gala, 'sent', 1);
  expect(await waitForState(given.database.db, given.gala, 'cancelled', 1)).toMatchObject([
    { serial: first.serial, reason: 'cancelled', possiblyTwice: false },
  ]);
  expect(countsOf(again.mails)).toEqual(once(addresses(2).slice(1)));
});

test('nothing of a test event is sent outside', async () => {
  const server = await startMailServer();
  const trial = await createFixture(given.database.db, 'allow', 'test');
  await confirm(given.database.db, trial, await trial.addTicket(), addresses(5, 'trial'));
  await enable(given.database.db, trial);
  await enable(given.database.db, given.gala);
  await startMails(given.database, { SMTP_URL: server.url });
  await confirmThese(addresses(1));
  await waitForState(given.database.db, given.gala, 'sent', 1);
  await waitUntil('the test event was passed over', async () => {
    const { last_offset } = await given.database.db
      .selectFrom('journal_consumers')
      .select('last_offset')
      .where('event_id', '=', trial.eventId)
      .executeTakeFirstOrThrow();
    return last_offset > 0;
  });
  expect(countsOf(server.mails)).toEqual(once(addresses(1)));
});

test('what is paused waits, and goes on where it was', async () => {
  const server = await startMailServer();
  await enable(given.database.db, given.gala);
  await perform(given.database.db, pauseMailAction, { eventId: given.gala.eventId }, 'test');
  await confirmThese(addresses(2, 'paused'));
  const other = await createFixture(given.database.db);
  await confirm(given.database.db, other, await other.addTicket(), addresses(1, 'other'));
  await enable(given.database.db, other);
  await startMails(given.database, { SMTP_URL: server.url });
  await waitForState(given.database.db, other, 'sent', 1);
  expect(countsOf(server.mails)).toEqual(once(addresses(1, 'other')));
  await perform(given.database.db, resumeMailAction, { eventId: given.gala.eventId }, 'test');
  await waitForState(given.database.db, given.gala, 'sent', 2);
});

describe('refusals', () => {
  test('for good: undeliverable, with the codes alone, and no more e-mails to that address', async () => {
    const server = await startMailServer();
    const [gone, here] = addresses(2) as [string, string];
    server.onRecipient = (address) =>
      address === gone ? { responseCode: 550, message: `5.1.1 <${address}>: no such user` } : undefined;
    await enable(given.database.db, given.gala);
    const { output } = await startMails(given.database, { SMTP_URL: server.url });
    await confirmThese([gone, here]);
    await waitForState(given.database.db, given.gala, 'sent', 1);
    expect(await waitForState(given.database.db, given.gala, 'undeliverable', 1)).toMatchObject([
      { reason: '550 5.1.1', attempts: 1 },
    ]);
    let asked = 0;
    server.onRecipient = (address) => void (asked += Number(address === gone));
    await confirmThese([gone.toUpperCase()]);
    expect(await waitForState(given.database.db, given.gala, 'suppressed', 1)).toMatchObject([
      { reason: 'suppressed', attempts: 0 },
    ]);
    expect(asked).toBe(0);
    expect(output()).not.toContain(gone);
  });

  test('for now: tried again by its schedule, while the others go on', async () => {
    const server = await startMailServer();
    const [grey] = addresses(1, 'grey') as [string];
    server.onRecipient = (address) =>
      address === grey ? { responseCode: 451, message: '4.7.1 greylisted' } : undefined;
    await confirmThese([grey, ...addresses(20)]);
    await sql`update journal_segments set at = now() - interval '1 hour' where shard_id = ${given.gala.shardId}`.execute(
      given.database.db,
    );
    await enable(given.database.db, given.gala);
    await startMails(given.database, { SMTP_URL: server.url });
    await waitForState(given.database.db, given.gala, 'sent', 20);
    expect(await waitForState(given.database.db, given.gala, 'retry', 1)).toMatchObject([
      { reason: '451 4.7.1', attempts: 1, possiblyTwice: false },
    ]);
    // As long as it has failed, not as long as it was confirmed. An alert on what was not tried hears nothing of it.
    const { mail } = await readLags(given.database.db);
    expect(mail).toMatchObject({ consumers: 1, behind: 1, oldestMs: null });
    expect(mail!.oldestRetryMs).toBeLessThan(HOUR_MS);
    const hourAgo = new Date(Date.now() - HOUR_MS);
    await sql`update deliveries set failing_since = ${hourAgo} where state = 'retry'`.execute(
      given.database.db,
    );
    expect((await readLags(given.database.db)).mail!.oldestRetryMs).toBeGreaterThanOrEqual(HOUR_MS);
    server.onRecipient = () => undefined;
    await makeDue(given.database.db);
    const sent = await waitForState(given.database.db, given.gala, 'sent', 21);
    expect(sent[0]).toMatchObject({ attempts: 2, possiblyTwice: false });
    expect(countsOf(server.mails)).toEqual(once([grey, ...addresses(20)]));
    expect((await readLags(given.database.db)).mail).toMatchObject({
      behind: 0,
      oldestMs: null,
      oldestRetryMs: null,
    });
  });

  test.each([421, 454])('%s: everybody waits, and it costs no attempt', async (responseCode) => {
    const server = await startMailServer();
    let refused = 0;
    let refusedFirstAt = Infinity;
    const asked = new Set<string>();
    const busy = (address: string) => {
      refused += 1;
      refusedFirstAt = Math.min(refusedFirstAt, performance.now());
      asked.add(address);
      return { responseCode, message: '4.7.0 slow down' };
    };
    server.onRecipient = busy;
    await enable(given.database.db, given.gala);
    const { output } = await startMails(given.database, { SMTP_URL: server.url });
    await confirmThese(addresses(200));
    await waitUntil('it was told to wait', () => output().includes('the SMTP server accepts no e-mails'));
    await waitUntil('the first refusals are recorded', async () =>
      (await deliveriesOf(given.database.db, given.gala)).every(({ state }) => state === 'queued'),
    );
    const before = refused;
    await waitUntil('it has asked again', () => refused > before);
    // Those that were handed over before the first refusal arrived, and one after each pause. Pauses double.
    const pauses = Math.log2((performance.now() - refusedFirstAt) / SHORTEST_PAUSE_MS + 1);
    expect(asked.size).toBeLessThanOrEqual(MAX_SENDING + pauses);
    expect((await deliveriesOf(given.database.db, given.gala)).every(isUntried)).toBe(true);
    server.onRecipient = () => undefined;
    await waitForState(given.database.db, given.gala, 'sent', 200);
    expect((await deliveriesOf(given.database.db, given.gala)).every(({ attempts }) => attempts === 1)).toBe(
      true,
    );
    expect(countsOf(server.mails)).toEqual(once(addresses(200)));
  });

  test('of one address alone, whatever the server says it is about: that one waits, and keeps nobody', async () => {
    const server = await startMailServer();
    const [first, ...others] = addresses(21) as [string, ...string[]];
    server.onRecipient = (address) =>
      address === first ? { responseCode: 454, message: '4.7.1 relay access denied' } : undefined;
    await confirmThese([first, ...others]);
    await enable(given.database.db, given.gala);
    await startMails(given.database, { SMTP_URL: server.url });
    await waitForState(given.database.db, given.gala, 'sent', 20);
    // It has its row as soon as others were taken since it was refused, and these may have been taken before.
    let later = 0;
    const sendLater = async () => {
      await confirmThese(addresses(1, `later-${(later += 1)}`));
      await waitForState(given.database.db, given.gala, 'sent', 20 + later);
      return (await deliveriesOf(given.database.db, given.gala)).some(({ state }) => state === 'retry');
    };
    await waitUntil('the refused one has its row', sendLater);
    expect(await waitForState(given.database.db, given.gala, 'retry', 1)).toMatchObject([
      { reason: '454 4.7.1', attempts: 1, possiblyTwice: false },
    ]);
    server.onRecipient = () => undefined;
    await makeDue(given.database.db);
    await waitForState(given.database.db, given.gala, 'sent', 21 + later);
    const all = Array.from({ length: later }, (_, index) => addresses(1, `later-${index + 1}`)).flat();
    expect(countsOf(server.mails)).toEqual(once([first, ...others, ...all]));
  });

  const BY_POLICY = { responseCode: 554, message: '5.7.1 blocked' };

  test('of some addresses by its policy: they wait, the others are sent without a pause, and nobody is suppressed', async () => {
    const server = await startMailServer();
    server.onRecipient = (address) => (address.startsWith('blocked') ? BY_POLICY : undefined);
    await enable(given.database.db, given.gala);
    const { output } = await startMails(given.database, { SMTP_URL: server.url });
    await confirmThese(addresses(1, 'first'));
    await waitForState(given.database.db, given.gala, 'sent', 1);
    // Refusals arrive before the messages that were sent at the same time. Of two parts they are fewer than
    // those that stop all e-mails.
    for (const part of [1, 2, 3, 4, 5]) {
      await confirmThese([...addresses(9, `blocked-${part}`), ...addresses(30, `part-${part}`)]);
      await waitForState(given.database.db, given.gala, 'sent', 1 + 30 * part);
      await waitForState(given.database.db, given.gala, 'retry', 9 * part);
    }
    const refused = await waitForState(given.database.db, given.gala, 'retry', 45);
    expect(refused.every(({ reason, attempts }) => reason === '554 5.7.1' && attempts === 1)).toBe(true);
    // It would say so if e-mails had waited.
    expect(output()).not.toContain('the SMTP server accepts no e-mails');
    expect(await given.database.db.selectFrom('mail_suppressions').selectAll().execute()).toEqual([]);
  });

  test('of us, by its policy: everybody waits, and nobody is undeliverable or suppressed', async () => {
    const server = await startMailServer();
    await enable(given.database.db, given.gala);
    const { output } = await startMails(given.database, { SMTP_URL: server.url });
    await confirmThese(addresses(1, 'first'));
    await waitForState(given.database.db, given.gala, 'sent', 1);
    let refused = 0;
    server.onRecipient = () => ((refused += 1), BY_POLICY);
    await confirmThese(addresses(40));
    await waitUntil('it was refused', () => output().includes('the SMTP server accepts no e-mails'));
    const first = refused;
    // As if a minute had passed, for those that are not being tried now.
    const tryNow = sql`update deliveries set due_at = now() where state in ('queued', 'retry')`;
    await waitUntil('they were tried again', async () => {
      await tryNow.execute(given.database.db);
      return refused >= first + 2;
    });
    const attempts = (await deliveriesOf(given.database.db, given.gala)).slice(1).map((one) => one.attempts);
    expect(attempts.reduce((sum, one) => sum + one, 0)).toBeLessThan(20);
    // The server has judged none of them, so they count as not tried.
    expect((await readLags(given.database.db)).mail!.oldestMs).not.toBeNull();
    server.onRecipient = () => undefined;
    await waitUntil('all are sent', async () => {
      await tryNow.execute(given.database.db);
      return (
        (await deliveriesOf(given.database.db, given.gala)).filter(({ state }) => state === 'sent').length ===
        41
      );
    });
    expect(await given.database.db.selectFrom('mail_suppressions').selectAll().execute()).toEqual([]);
    expect(countsOf(server.mails)).toEqual(once([...addresses(1, 'first'), ...addresses(40)]));
  });

  test('of everybody, as servers do that do not relay for us: a few end, the others wait until it is put right', async () => {
    const server = await startMailServer();
    server.onRecipient = () => ({ responseCode: 550, message: 'relay not permitted' });
    await confirmThese(addresses(60));
    await enable(given.database.db, given.gala);
    const { output } = await startMails(given.database, { SMTP_URL: server.url });
    await waitUntil('it was refused', () => output().includes('the SMTP server accepts no e-mails'));
    server.onRecipient = () => undefined;
    const tryNow = sql`update deliveries set due_at = now() where state in ('queued', 'retry')`;
    const countOf = async (wanted: string) =>
      (await deliveriesOf(given.database.db, given.gala)).filter(({ state }) => state === wanted).length;
    await waitUntil('the others are sent', async () => {
      await tryNow.execute(given.database.db);
      return (await countOf('sent')) === 60 - (await countOf('undeliverable'));
    });
    expect(await countOf('undeliverable')).toBeLessThan(20);
  });

  test('of the sender, not of an address: everybody waits, and nobody is suppressed', async () => {
    const server = await startMailServer(0, {
      onMailFrom: (_address, _session, done) =>
        done(Object.assign(new Error('sender not allowed'), { responseCode: 550 })),
    });
    await enable(given.database.db, given.gala);
    const { output } = await startMails(given.database, { SMTP_URL: server.url });
    await confirmThese(addresses(2));
    await waitUntil('it was refused', () => output().includes('the SMTP server accepts no e-mails'));
    expect((await deliveriesOf(given.database.db, given.gala)).every(isUntried)).toBe(true);
    expect(await given.database.db.selectFrom('mail_suppressions').selectAll().execute()).toEqual([]);
  });
});

test('a server that is away is waited for', async () => {
  const server = await startMailServer();
  const { port } = new URL(server.url);
  await server.stop();
  await enable(given.database.db, given.gala);
  const { output } = await startMails(given.database, { SMTP_URL: `smtp://gala:s3cret@127.0.0.1:${port}` });
  await waitUntil('its absence is mentioned', () => output().includes('the SMTP server cannot be used'));
  expect(output()).toMatch(new RegExp(`"host":"127.0.0.1","port":${port},"reason":"[A-Z]+"`));
  expect(output()).not.toContain('s3cret');
  await confirmThese(addresses(10));
  await waitUntil('it was missed', () => output().includes('the SMTP server accepts no e-mails'));
  const again = await startMailServer(Number(port));
  await waitForState(given.database.db, given.gala, 'sent', 10);
  expect(countsOf(again.mails)).toEqual(once(addresses(10)));
});

test('e-mails that cannot be made wait until they can, and others go on', async () => {
  const server = await startMailServer();
  const setTimeZone = (timeZone: string) =>
    given.database.db
      .updateTable('events')
      .set({ starts_at: new Date(), time_zone: timeZone })
      .where('id', '=', given.gala.eventId)
      .execute();
  await setTimeZone('Nobody/Knows');
  const other = await createFixture(given.database.db);
  await confirmThese(addresses(3));
  await confirm(given.database.db, other, await other.addTicket(), addresses(1, 'other'));
  for (const event of [given.gala, other]) await enable(given.database.db, event);
  const { output } = await startMails(given.database, { SMTP_URL: server.url });
  await waitForState(given.database.db, given.gala, 'retry', 3);
  await waitForState(given.database.db, other, 'sent', 1);
  expect(output()).toMatch(/cannot compose an e-mail/);
  await setTimeZone('Europe/Berlin');
  await makeDue(given.database.db);
  await waitForState(given.database.db, given.gala, 'sent', 3);
  expect(countsOf(server.mails)).toEqual(once([...addresses(3), ...addresses(1, 'other')]));
});

test('an address that was suppressed by hand gets none', async () => {
  const server = await startMailServer();
  const [one, two] = addresses(2) as [string, string];
  const entry = { digest: digestOf(one), reason: 'test', event_id: given.gala.eventId };
  await given.database.db.insertInto('mail_suppressions').values(entry).execute();
  await enable(given.database.db, given.gala);
  await confirmThese([one, two]);
  await startMails(given.database, { SMTP_URL: server.url });
  await waitForState(given.database.db, given.gala, 'sent', 1);
  expect(countsOf(server.mails)).toEqual(once([two]));
});
