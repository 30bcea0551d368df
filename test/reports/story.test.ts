import { perform } from '@floodgate/audit';
import { resendMailAction, switchOn } from '@floodgate/mail/actions';
import {
  cancelRegistrationAction,
  correctRegistrationAction,
  replaceAttendeeAction,
} from '@floodgate/registrations/actions';
import { reportOperations } from '@floodgate/reports/console';
import { NotFound } from '@floodgate/service/failure';
import { sql } from 'kysely';
import { expect } from 'vitest';
import { callerNamed } from '../harness/callers.ts';
import { apiTest } from '../harness/api-test.ts';
import { addGate, enrolledDevice } from '../harness/door-device.ts';
import { finalizePending } from '../harness/journal.ts';
import { attendee } from '../harness/partner-client.ts';

const { test, given } = apiTest({ own: 'finalizes everything in the database' });

test.override('ticket', { capacity: 100 });

const OPERATOR = callerNamed('ada');
const STRANGER = callerNamed('machine', (scope) => scope === 'registrations:read');

async function sell() {
  const reference = (await given.partner.register(attendee(given.ticketId))).body.responseData as string;
  await finalizePending(given.database.db, given.gala.shardId);
  return reference;
}

const passOf = async (reference: string) =>
  ((await given.partner.pass(reference)).body.responseData as { pass: string }).pass;

const storyOf = async (passReference: string, caller = OPERATOR) =>
  (await reportOperations.registrationStory(given.database.db, { passReference }, caller)).story;

test('the story of a seat goes through a change of its attendee, the door and a cancellation, with their authors', async () => {
  const { db } = given.database;
  const first = await sell();
  const gate = await addGate(db, given.gala.eventId);
  const device = await enrolledDevice(db, given.api.baseUrl, given.gala.eventId, [gate]);
  await perform(db, correctRegistrationAction, { passReference: first, fullName: 'Ann Right' }, 'ada');
  const someone = { fullName: 'Eve Later', emailAddress: 'eve@example.com' };
  const { passReference: second } = await perform(
    db,
    replaceAttendeeAction,
    { passReference: first, ...someone },
    'grace',
  );
  await finalizePending(db, given.gala.shardId);
  const pass = await passOf(second);
  await device.scan(pass, gate);
  await device.scan(pass, gate);
  await perform(db, cancelRegistrationAction, { passReference: second }, 'linus');
  const story = await storyOf(first);
  expect(await storyOf(second)).toEqual(story);
  const times = story.map(({ at }) => at.getTime());
  expect(times).toEqual(times.toSorted((one, other) => one - other));
  const of = (reference: string) =>
    story.filter(({ passReference }) => passReference === reference).map(({ what, by }) => [what, by]);
  const partner = expect.stringMatching(/^partner /) as unknown;
  expect(of(first)).toEqual(
    expect.arrayContaining([
      ['sold', partner],
      ['confirmed', null],
      ['corrected: name', 'ada'],
      ['the seat was given to another attendee', 'grace'],
    ]),
  );
  expect(of(second)).toEqual(
    expect.arrayContaining([
      ['sold', partner],
      [expect.stringMatching(/^let in: Main entrance/), null],
      [expect.stringMatching(/^scan refused, already-admitted: Main entrance/), null],
      ['cancelled', 'linus'],
    ]),
  );
  expect(JSON.stringify(story)).not.toMatch(/Ann Right|Eve Later|eve@example/);
});

test('a partner that cancels is the author, and a caller without the right to the audit log sees none', async () => {
  const reference = await sell();
  await given.partner.cancel(reference);
  const ending = (await storyOf(reference)).find(({ what }) => what === 'cancelled');
  expect(ending?.by).toMatch(/^partner /);
  expect((await storyOf(reference, STRANGER)).map(({ by }) => by)).toEqual(
    expect.not.arrayContaining([expect.any(String)]),
  );
  await expect(storyOf(`${reference.slice(0, -1)}x`)).rejects.toThrow(NotFound);
});

test('an e-mail that was sent again is there with each time, for those who may see the audit log', async () => {
  const { db } = given.database;
  const { eventId, shardId } = given.gala;
  const reference = await sell();
  await switchOn(db, { eventId, shardId }, false);
  const serial = reference.split('-')[2]!;
  await sql`
    insert into deliveries (shard_id, event_id, kind, subject, state, attempts, tried_at, sent_at)
    values (${shardId}, ${eventId}, 'confirmation', ${serial}, 'sent', 1, now(), '2026-11-01T10:00Z')`.execute(
    db,
  );
  const mails = async (caller = OPERATOR) =>
    (await storyOf(reference, caller)).flatMap(({ kind, at, what }) =>
      kind === 'mail' ? [`${at.toISOString().slice(0, 10)} ${what}`] : [],
    );
  await perform(db, resendMailAction, { passReference: reference }, 'ada');
  const first = '2026-11-01 e-mail with the pass: sent';
  expect((await mails()).filter((one) => one === first)).toEqual([first]);
  await sql`
    update deliveries set state = 'sent', sent_at = '2026-11-02T10:00Z'
    where shard_id = ${shardId} and event_id = ${eventId} and subject = ${serial}`.execute(db);
  expect(await mails()).toEqual([first, '2026-11-02 e-mail with the pass: sent']);
  expect(await mails(STRANGER)).toEqual(['2026-11-02 e-mail with the pass: sent']);
});
