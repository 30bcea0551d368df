import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { perform } from '@floodgate/audit';
import { HOUSE_PARTNER_ID } from '@floodgate/database';
import { archiveEvent, updateEvent } from '@floodgate/events';
import { listPartners } from '@floodgate/partners';
import { disablePartnerAction, issueKeyAction } from '@floodgate/partners/actions';
import { reconcile } from '@floodgate/registrations';
import { cancelRegistrationAction } from '@floodgate/registrations/actions';
import { allocateTicketAction, updateTicketAction } from '@floodgate/tickets/actions';
import { sql } from 'kysely';
import { afterAll, describe, expect } from 'vitest';
import { apiTest } from '../harness/api-test.ts';
import { addGate, enrolledDevice } from '../harness/door-device.ts';
import { expectFailure } from '../harness/expect-failure.ts';
import { finalizePending } from '../harness/journal.ts';
import { waitForEndOfConnections } from '../harness/lock-waiters.ts';
import { startMailServer } from '../harness/mail-server.ts';
import { attendee } from '../harness/partner-client.ts';
import { keepPrivate } from '../harness/private-data.ts';
import { runCli, startProcess } from '../harness/service-process.ts';
import { tablesOf } from '../harness/stored-tables.ts';
import { temporaryDirectory } from '../harness/temporary-directory.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { enable, startMails, waitForState } from '../mail/mail-process.ts';

const { test, given } = apiTest({
  own: 'compares the books of its database, and finalizes everything in it',
});

test.override('ticket', { capacity: 10 });

afterAll(async () => {
  expect(await reconcile(given.db)).toEqual([]);
});

const env = () => ({ DATABASE_URL: given.database.url });
const guest = (...args: string[]) => runCli(env(), 'guest', ...args, '--by', 'jane');
const add = (name = 'Jane Doe', address = `${randomUUID()}@example.com`, ...options: string[]) =>
  guest('add', String(given.gala.eventId), String(given.ticketId), name, address, ...options);

/** Writes a guest list. Resolves to the path. */
async function fileOf(csv: string | Buffer): Promise<string> {
  const directory = await temporaryDirectory();
  const file = directory.file('guests.csv');
  await writeFile(file, csv);
  return file;
}

const importArgs = (file: string, ...options: string[]) => [
  'import',
  String(given.gala.eventId),
  file,
  '--ticket',
  String(given.ticketId),
  ...options,
];

/** Imports a list. Resolves to the exit code, the outcome of each row, and the summary. */
async function importList(csv: string, ...options: string[]) {
  const { code, output } = await guest(...importArgs(await fileOf(csv), '--json', ...options));
  const lines = output.split('\n').filter((line) => line.startsWith('{'));
  const documents = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  const summary = documents.pop()?.['summary'];
  return { code, output, rows: documents, summary };
}

const listOf = (count: number, name = 'guest') =>
  ['name,email', ...Array.from({ length: count }, (_, n) => `Guest ${n},${name}-${n}@example.com`)].join(
    '\n',
  );

/** The guests of the event that are not cancelled. */
async function stored() {
  return tablesOf(given.db)
    .selectFrom('registrations')
    .select(['full_name', 'email_address', 'partner_id', 'ticket_id', 'partner_reference'])
    .where('shard_id', '=', given.gala.shardId)
    .where('event_id', '=', given.gala.eventId)
    .where('cancelled_at', 'is', null)
    .orderBy('serial')
    .execute();
}

const ofTicket = (settings: object) =>
  perform(given.db, updateTicketAction, { ticketId: given.ticketId, ...settings }, 'test');

describe('the house partner', () => {
  test('is there after migrate, marked, and the last of the list', async () => {
    const partners = await listPartners(given.db);
    expect(partners.at(-1)).toMatchObject({
      id: HOUSE_PARTNER_ID,
      name: 'House',
      isHouse: true,
      openKeys: 0,
    });
    expect(partners.filter(({ isHouse }) => isHouse)).toHaveLength(1);
    expect((await runCli(env(), 'partner', 'list')).output).toMatch(/operator's own/);
  });

  test('can neither be disabled nor get a key', async () => {
    const partnerId = HOUSE_PARTNER_ID;
    await expect(
      perform(given.db, disablePartnerAction, { partnerId, disabled: true }, 'test'),
    ).rejects.toThrow("this partner registers the operator's own guests, so it cannot be disabled");
    await expect(perform(given.db, issueKeyAction, { partnerId }, 'test')).rejects.toThrow(
      "this partner registers the operator's own guests, so it has no keys",
    );
  });
});

describe('one guest', () => {
  test('is registered through the house partner, noted without their data, and counts in the capacity', async () => {
    const address = `${randomUUID()}@example.com`;
    const { code, output } = await add(' Jane Doe ', address, '--phone', '123', '--reference', 'VIP-1');
    expect([code, output]).toEqual([0, expect.stringMatching(/^registered: GALA-\d+-\d+-\d{10}\n$/)]);
    expect(await stored()).toEqual([
      {
        full_name: 'Jane Doe',
        email_address: address,
        partner_id: HOUSE_PARTNER_ID,
        ticket_id: given.ticketId,
        partner_reference: 'VIP-1',
      },
    ]);
    const serial = output.split('-')[2]!;
    const { rows } = await sql<{ action: string; actor: string; after: object }>`
      select action, actor, after from audit_log where subject = ${`registration:${serial}`}`.execute(
      given.db,
    );
    expect(rows).toEqual([
      { action: 'guest.add', actor: 'jane', after: { ticketId: given.ticketId, guest: true } },
    ]);
    const tickets = (await given.partner.tickets()).body.responseData as { count: number }[];
    expect(tickets[0]).toMatchObject({ count: 9 });
  });

  test('is not registered twice by a repeated command, and again after a cancellation', async () => {
    const address = `${randomUUID()}@example.com`;
    const first = (await add('Jane Doe', address)).output.replace('registered: ', '').trim();
    expect((await add('JANE  DOE', address)).output).toBe(`already registered: ${first}\n`);
    await perform(given.db, cancelRegistrationAction, { passReference: first }, 'test');
    expect((await add('Jane Doe', address)).output).toMatch(/^registered: /);
    expect(await stored()).toHaveLength(1);
  });

  test('is refused in the words of the API, with the name of what the operator typed', async () => {
    expect(await add('Jane Doe', 'jane')).toEqual({
      code: 2,
      output: expect.stringContaining(
        '<address>: required, an e-mail address of at most 254 characters',
      ) as string,
    });
    expect((await add('\u200B')).output).toContain('<name>: required, 1 to 255 characters after trimming');
    expect((await add('A', 'a@example.com', '--reference', 'x'.repeat(65))).output).toContain(
      '--reference: ',
    );
    const other = await guest('add', String(given.gala.eventId), '999999', 'A', 'a@example.com');
    expect(other).toEqual({ code: 1, output: 'floodgate: No such ticket under this event\n' });
  });

  test('is registered before the sale begins and after it has ended, and not for an inactive ticket', async () => {
    const [future, past] = [new Date(Date.now() + 3_600_000), new Date(Date.now() - 3_600_000)];
    await ofTicket({ saleStartsAt: future });
    expectFailure(await given.partner.register(attendee(given.ticketId)), '31');
    expect(await add()).toMatchObject({ code: 0 });
    await ofTicket({ saleStartsAt: null, saleEndsAt: past });
    expect(await add()).toMatchObject({ code: 0 });
    await ofTicket({ active: false });
    expect((await add()).output).toBe('floodgate: The ticket is not on sale\n');
  });

  test('is refused when the event is over or archived', async () => {
    const { eventId } = given.gala;
    await updateEvent(given.db, eventId, { endsAt: new Date(Date.now() - 1_000) });
    expect((await add()).output).toBe('floodgate: the event is over\n');
    await updateEvent(given.db, eventId, { endsAt: null });
    await ofTicket({ active: false });
    await given.db.transaction().execute((tx) => archiveEvent(tx, eventId, true));
    expect((await add()).output).toBe('floodgate: the event is archived; restore it first\n');
  });

  test('is refused as a duplicate by the rule of the event', async () => {
    await given.useEvent({ duplicatePolicy: 'reject' }, { capacity: 10 });
    const address = `${randomUUID()}@example.com`;
    expect(await add('Jane Doe', address)).toMatchObject({ code: 0 });
    expect((await add('John Doe', address.toUpperCase())).output).toBe(
      'floodgate: This e-mail address is already registered for the event\n',
    );
  });
});

describe('a guest list', () => {
  test('registers each guest once, names each bad row, and registers nobody when it is sent again', async () => {
    const csv = 'Name;E-Mail;Notes\nA;a@example.com;x\n;b@example.com;\nC;c@example.com\nA;A@example.com\n';
    const first = await importList(csv);
    expect(first.code).toBe(1);
    expect(first.output).toContain('floodgate: 1 row is refused');
    expect(first.rows).toEqual([
      {
        line: 2,
        outcome: 'registered',
        passReference: expect.stringMatching(/^GALA-/) as string,
        reason: null,
      },
      {
        line: 3,
        outcome: 'refused',
        passReference: null,
        reason: expect.stringMatching(/^fullName: /) as string,
      },
      {
        line: 4,
        outcome: 'registered',
        passReference: expect.stringMatching(/^GALA-/) as string,
        reason: null,
      },
      { line: 5, outcome: 'duplicate', passReference: null, reason: 'the same guest as line 2' },
    ]);
    expect(first.summary).toEqual({
      registered: 2,
      alreadyRegistered: 0,
      duplicates: 1,
      refused: 1,
      dryRun: false,
      ignoredColumns: ['Notes'],
    });
    const again = await importList(csv);
    expect(again.summary).toMatchObject({ registered: 0, alreadyRegistered: 2, duplicates: 1, refused: 1 });
    expect(again.rows[0]).toMatchObject({ passReference: first.rows[0]!['passReference'] });
    expect((await stored()).map(({ full_name: name }) => name)).toEqual(['A', 'C']);
  });

  test('says in a dry run what would become of each row, and stores nothing', async () => {
    await given.useEvent({ duplicatePolicy: 'reject' }, { capacity: 502 });
    await importList('name,email\nEarlier,earlier@example.com');
    const rows = Array.from({ length: 505 }, (_, n) => `Guest ${n},guest-${n}@example.com`);
    // The first commit has 500 rows, so the rows at the end need to know of it.
    const csv = ['name,email', 'Earlier,earlier@example.com', ...rows, 'Other,guest-3@example.com'].join(
      '\n',
    );
    const dry = await importList(csv, '--dry-run');
    const outcomes = Object.groupBy(dry.rows, ({ outcome }) => String(outcome));
    expect(outcomes['would-register']).toHaveLength(501);
    expect(outcomes['already-registered']).toMatchObject([{ line: 2, passReference: null }]);
    expect(outcomes['refused']!.map(({ reason }) => reason)).toEqual([
      ...Array.from({ length: 4 }, () => 'The ticket is sold out'),
      'This e-mail address is already registered for the event',
    ]);
    expect(await stored()).toHaveLength(1);
    const real = await importList(csv);
    const expected = dry.rows.map(({ line, outcome }) => [
      line,
      String(outcome).replace('would-register', 'registered'),
    ]);
    expect(real.rows.map(({ line, outcome }) => [line, outcome])).toEqual(expected);
  });

  test('sells while there are seats, and refuses the rows after that', async () => {
    const { code, rows, summary } = await importList(listOf(12));
    expect(code).toBe(1);
    expect(summary).toMatchObject({ registered: 10, refused: 2 });
    expect(rows.slice(-2)).toEqual(
      [12, 13].map((line) => ({
        line,
        outcome: 'refused',
        passReference: null,
        reason: 'The ticket is sold out',
      })),
    );
    await ofTicket({ capacity: 11 });
    expect((await importList(listOf(12))).summary).toMatchObject({
      registered: 1,
      alreadyRegistered: 10,
      refused: 1,
    });
  });

  test('keeps to allocations: seats of others are not for guests, and a cap of the house holds', async () => {
    const { partnerId } = given.gala;
    const allocate = (of: number, settings: object) =>
      perform(
        given.db,
        allocateTicketAction,
        { ticketId: given.ticketId, partnerId: of, ...settings },
        'test',
      );
    await allocate(partnerId, { reserved: 4 });
    expect((await importList(listOf(7, 'first'), '--dry-run')).summary).toMatchObject({
      registered: 6,
      refused: 1,
    });
    expect((await importList(listOf(3, 'first'))).summary).toMatchObject({ registered: 3 });
    await allocate(HOUSE_PARTNER_ID, { reserved: 0, cap: 5 });
    const capped = await importList(listOf(3, 'second'));
    expect(capped.rows[2]).toMatchObject({
      outcome: 'refused',
      reason: 'You have sold all seats that you may sell of this ticket',
    });
    expect(await stored()).toHaveLength(5);
  });

  test('leaves a guest whose registration was cancelled, and says so', async () => {
    const [row] = (await importList(listOf(1))).rows;
    const { passReference } = row as { passReference: string };
    await perform(given.db, cancelRegistrationAction, { passReference }, 'test');
    expect((await importList(listOf(1))).rows).toEqual([
      {
        line: 2,
        outcome: 'already-registered',
        passReference,
        reason: 'the registration was cancelled; "guest add" registers the guest again',
      },
    ]);
    expect(await stored()).toEqual([]);
  });

  test('is refused as a whole if it cannot be read: exit code 2, the line, and no word of it', async () => {
    const latin = await fileOf(Buffer.from('name,email\nJörg,joerg@example.com', 'latin1'));
    expect(await guest(...importArgs(latin))).toEqual({
      code: 2,
      output: expect.stringMatching(
        /^floodgate: <file>: line 2 is not UTF-8\. Save the file as UTF-8/,
      ) as string,
    });
    const headless = await importList('Jane Doe,jane@example.com');
    expect([headless.code, headless.output]).toEqual([
      2,
      expect.stringContaining('<file>: no column holds fullName'),
    ]);
    const mapped = await importList('name,email', '--map', 'guest=fullName');
    expect(mapped.output).toContain('--map: the header has no such column for fullName');
    const missing = await guest(...importArgs('/no/such/file.csv'));
    expect([missing.code, missing.output]).toEqual([1, expect.stringContaining('cannot read the file')]);
  });

  test('registers nobody twice when two imports run at the same time', async () => {
    await given.useTicket({ capacity: 5_000 });
    const csv = listOf(1_200);
    const both = await Promise.all([importList(csv), importList(csv)]);
    const sum = (name: string) =>
      both.reduce((total, { summary }) => total + (summary as Record<string, number>)[name]!, 0);
    expect([sum('registered'), sum('alreadyRegistered'), sum('refused')]).toEqual([1_200, 1_200, 0]);
    const addresses = (await stored()).map(({ email_address: address }) => address);
    expect([addresses.length, new Set(addresses).size]).toEqual([1_200, 1_200]);
  });

  test('registers each guest once, also if the command was killed in the middle', async () => {
    await given.useTicket({ capacity: 20_000 });
    const csv = listOf(6_000);
    const file = await fileOf(csv);
    const killed = startProcess('cli', env(), ['guest', ...importArgs(file)]);
    await waitUntil('some guests are registered', async () => (await stored()).length > 0);
    await killed.end('SIGKILL');
    // Its last commit may have been sent.
    await waitForEndOfConnections(given.db, 'floodgate-cli');
    const before = (await stored()).length;
    expect(before).toBeLessThan(6_000);
    const { summary } = await importList(csv);
    expect(summary).toMatchObject({ registered: 6_000 - before, alreadyRegistered: before, refused: 0 });
    const addresses = (await stored()).map(({ email_address: address }) => address);
    expect([addresses.length, new Set(addresses).size]).toEqual([6_000, 6_000]);
  });
});

test('a guest of a list gets the e-mail with the pass, and is let in at the door', async () => {
  const address = `guest-${randomUUID()}@mail.floodgate-tests.org`;
  keepPrivate([address]);
  const server = await startMailServer();
  await startMails(given.database, { SMTP_URL: server.url });
  await enable(given.db, given.gala);
  const { rows } = await importList(`name,email\nJane Doe,${address}`);
  const { passReference } = rows[0] as { passReference: string };
  await finalizePending(given.db, given.gala.shardId);
  await waitForState(given.db, given.gala, 'sent', 1);
  expect(server.mails.map(({ to }) => to)).toEqual([address]);
  const gate = await addGate(given.db, given.gala.eventId);
  const device = await enrolledDevice(given.db, given.api.baseUrl, given.gala.eventId, [gate]);
  expect(await device.scan(passReference, gate)).toMatchObject({ outcome: 'admitted' });
});
