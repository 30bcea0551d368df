import { randomUUID } from 'node:crypto';
import { perform, readAuditLog } from '@floodgate/audit';
import { updateEventAction } from '@floodgate/events/actions';
import { jobOperations } from '@floodgate/jobs/console';
import { findJob, type Job } from '@floodgate/jobs';
import { deleteOldJobs, JOB_RETENTION_DAYS } from '@floodgate/jobs/old-jobs';
import { findRegistrations, passReferenceOf, reconcile } from '@floodgate/registrations';
import { replaceAttendeeAction } from '@floodgate/registrations/actions';
import { sql } from 'kysely';
import { expect, onTestFinished } from 'vitest';
import { callerNamed } from '../harness/callers.ts';
import { connectInTest } from '../harness/connect-in-test.ts';
import { eventTest } from '../harness/event-test.ts';
import { finalizePending, journalOf } from '../harness/journal.ts';
import { continueOnCoordinator, continueOnServer } from '../harness/serials-of-servers.ts';
import { runCli } from '../harness/service-process.ts';
import { roleOf, withRole } from '../harness/service-roles.ts';
import { sell } from '../harness/sold.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { cancellationsOf, cancelledOf, runJobs } from './running.ts';

const { test, given } = eventTest({ own: 'runs every job in the database' });

test.override('ticket', {});

const ANN = callerNamed('Ann');
const { jobCancel, jobCancelPreview, jobFailures, jobPause, jobResume, jobAbort } = jobOperations;

const all = () => ({ eventId: given.gala.eventId });

async function preview(filter: object = {}) {
  const { count, upTo } = await jobCancelPreview(given.db, { ...all(), ...filter }, ANN);
  return { expect: count, upTo };
}

const start = async (filter: object = {}, previewed?: { expect: number; upTo?: number[] }) =>
  jobCancel(given.db, { ...all(), ...filter, ...(previewed ?? (await preview(filter))) }, ANN);

const stateOf = async ({ id }: Job) => {
  const { state, done, failed, total } = await findJob(given.db, id);
  return { state, done, failed, total };
};

/** Makes a job lose the time that a killed process would keep it. */
const expireLease = (id: string) =>
  sql`update jobs set leased_until = now(), next_at = now() where id = ${id}`.execute(given.db);

test('a preview shows what a job would do, and changes nothing', async () => {
  const { db, gala, ticketId } = given;
  const serials = await sell(db, gala, ticketId, 12, { fullName: 'Ann Lee' });
  await sell(db, gala, ticketId, 3, { fullName: 'Bob Lee' });
  const filter = { ...all(), name: 'ann' };
  const shown = await jobCancelPreview(db, filter, ANN);
  expect(shown).toMatchObject({ count: 12, upTo: serials.slice(-1), eventName: 'Gala', mode: 'live' });
  expect(shown.first).toHaveLength(10);
  expect(shown.first[0]).toMatchObject({ fullName: 'Ann Lee', state: 'reserved' });
  expect(shown.follows[0]).toMatch(/^12 registrations are cancelled/);
  expect(shown.follows).toContain(
    'Attendees who got a confirmation by e-mail get another e-mail about the cancellation.',
  );
  const eventId = gala.eventId;
  await perform(db, updateEventAction, { eventId, mailOperatorCancels: false }, 'test');
  expect((await jobCancelPreview(db, filter, ANN)).follows).toContain(
    'No attendee gets an e-mail: the settings of the event exclude it.',
  );
  expect(await cancelledOf(db, gala.shardId, serials)).toEqual(serials.map(() => false));
  const viewer = callerNamed('Eve', () => false);
  await expect(jobCancelPreview(db, filter, viewer)).rejects.toThrow(
    'name: only with the scope attendees:read',
  );
  const { first } = await jobCancelPreview(db, all(), viewer);
  expect(Object.keys(first[0]!)).not.toContain('fullName');
});

test('a job acts on what was previewed, and says how many came since', async () => {
  const { db, gala, ticketId } = given;
  const serials = await sell(db, gala, ticketId, 30);
  const previewed = await preview();
  const later = await sell(db, gala, ticketId, 4);
  const job = await start({}, previewed);
  expect(job).toMatchObject({ total: 30, cameSince: 4, isNew: true });
  await runJobs(db);
  expect(await stateOf(job)).toEqual({ state: 'done', done: 30, failed: 0, total: 30 });
  expect(await cancelledOf(db, gala.shardId, serials)).toEqual(serials.map(() => true));
  expect(await cancelledOf(db, gala.shardId, later)).toEqual(later.map(() => false));
  await finalizePending(db, gala.shardId);
  expect([...(await cancellationsOf(db, gala)).values()]).toEqual(serials.map(() => 1));
  expect(await reconcile(db)).toEqual([]);
});

test('what came since is left out, also if it has lower serials: from another server, or the coordinator', async () => {
  const { db, gala, ticketId } = given;
  const { shardId, eventId } = gala;
  await continueOnServer(db, shardId, 1);
  const first = await sell(db, gala, ticketId, 3);
  await continueOnServer(db, shardId, 2);
  const second = await sell(db, gala, ticketId, 4);
  const previewed = await preview();
  expect(previewed).toEqual({ expect: 7, upTo: [first.at(-1), second.at(-1)] });
  await continueOnServer(db, shardId, 1);
  const later = await sell(db, gala, ticketId, 2);
  expect(later[0]).toBeLessThan(second[0]!);
  const [row] = await findRegistrations(db, [{ ...gala, serial: later[1]! }]);
  const change = { passReference: passReferenceOf(row!), fullName: 'Eve', emailAddress: 'eve@example.com' };
  await continueOnCoordinator(db);
  await perform(db, replaceAttendeeAction, change, 'test');
  const job = await start({}, previewed);
  expect(job).toMatchObject({ total: 7, cameSince: 2 });
  await runJobs(db);
  const { rows } = await sql<{ serial: number }>`
    select serial from registrations
    where shard_id = ${shardId} and event_id = ${eventId} and cancelled_at is null order by serial`.execute(
    db,
  );
  expect(rows).toHaveLength(2);
  expect(rows[0]!.serial).toBeLessThan(first[0]!);
  expect(rows[1]!.serial).toBe(later[0]);
  await finalizePending(db, shardId);
  expect(await reconcile(db)).toEqual([]);
});

test('a start is refused if an attendee of the preview was changed, also if the new one has a lower serial', async () => {
  const { db, gala, ticketId } = given;
  await continueOnServer(db, gala.shardId, 2);
  const [serial] = await sell(db, gala, ticketId, 3);
  const previewed = await preview();
  const [row] = await findRegistrations(db, [{ ...gala, serial: serial! }]);
  const change = { passReference: passReferenceOf(row!), fullName: 'Eve', emailAddress: 'eve@example.com' };
  await continueOnCoordinator(db);
  await perform(db, replaceAttendeeAction, change, 'test');
  await expect(start({}, previewed)).rejects.toThrow('the preview had 3 registrations, and now there are 2');
});

test('a start is refused with both numbers if the registrations have changed', async () => {
  const { db, gala, ticketId } = given;
  await sell(db, gala, ticketId, 5);
  const { expect: count, upTo } = await preview();
  await expect(start({}, { expect: count - 1, upTo })).rejects.toThrow(
    'the preview had 4 registrations, and now there are 5',
  );
  await sell(db, gala, ticketId, 1);
  // Without the bound of the preview, nothing may have come since.
  await expect(start({}, { expect: count })).rejects.toThrow(
    'the preview had 5 registrations, and now there are 6',
  );
  await sql`update registrations set cancelled_at = now() where serial = any(${upTo}::bigint[])`.execute(db);
  await expect(start({}, { expect: count, upTo })).rejects.toThrow(
    'the preview had 5 registrations, and now there are 4',
  );
  await sql`update registrations set cancelled_at = null where serial = any(${upTo}::bigint[])`.execute(db);
  await expect(start({ name: 'nobody' }, { expect: 0 })).rejects.toThrow('nothing meets the filter');
});

test('the same job is started once: by its id, or while the same work is open', async () => {
  const { db, gala, ticketId } = given;
  await sell(db, gala, ticketId, 5);
  const previewed = { ...(await preview()), jobId: randomUUID() };
  const [one, other] = await Promise.all([start({}, previewed), start({}, previewed)]);
  expect([one.id, other.id]).toEqual([previewed.jobId, previewed.jobId]);
  expect([one, other].filter(({ isNew }) => isNew)).toHaveLength(1);
  const sameWork = await start({}, { expect: 1 });
  expect(sameWork).toMatchObject({ id: previewed.jobId, isNew: false });
  await expect(start({ name: 'jane' }, previewed)).rejects.toThrow('another job has this id');
  await runJobs(db);
  expect(await start({}, previewed)).toMatchObject({
    id: previewed.jobId,
    isNew: false,
    state: 'done',
    done: 5,
  });
  await expect(start({}, { expect: 5 })).rejects.toThrow('now there are 0');
});

test('the audit log has one row for the start and one for the end, without names', async () => {
  const { db, gala, ticketId } = given;
  await sell(db, gala, ticketId, 120, { fullName: 'Ann Lee' });
  const job = await start({ name: 'Ann', state: 'reserved' });
  await runJobs(db);
  await runJobs(db);
  const entries = await readAuditLog(db, { subject: `job:${job.id}`, limit: 10 });
  expect(entries.map(({ action, actor, after }) => ({ action, actor, after }))).toEqual([
    { action: 'job.end', actor: 'Ann', after: { state: 'done', done: 120, failed: 0, total: 120 } },
    {
      action: 'job.start',
      actor: 'Ann',
      after: {
        kind: 'cancel',
        eventId: gala.eventId,
        state: 'reserved',
        name: '…',
        leaveAdmitted: false,
        total: 120,
        cameSince: 0,
      },
    },
  ]);
  expect(job.filter).toEqual({ eventId: gala.eventId, state: 'reserved', name: '…' });
});

test('a paused job does nothing until it is resumed, and an aborted one does nothing more', async () => {
  const { db, gala, ticketId } = given;
  await sell(db, gala, ticketId, 60);
  const job = await start();
  const named = { jobId: job.id };
  await jobPause(db, named, ANN);
  await runJobs(db);
  expect(await stateOf(job)).toMatchObject({ state: 'paused', done: 0 });
  await jobResume(db, named, ANN);
  await expect(jobPause(db, named, ANN)).resolves.toMatchObject({ state: 'paused' });
  await jobAbort(db, named, ANN);
  await runJobs(db);
  expect(await stateOf(job)).toMatchObject({ state: 'aborted', done: 0, total: 60 });
  await expect(jobResume(db, named, ANN)).rejects.toThrow('the job is aborted');
  // The same work can be started again.
  expect(await start()).toMatchObject({ isNew: true });
  await runJobs(db);
});

test('a job that is paused in the middle keeps its cursor', async () => {
  const { db, gala, ticketId } = given;
  await sell(db, gala, ticketId, 200);
  const job = await start();
  let batches = 0;
  // Between two batches, as an operator does.
  const pause = () => {
    batches += 1;
    void sql`update jobs set state = 'paused' where id = ${job.id}`.execute(db);
  };
  await runJobs(db, pause);
  const { done } = await stateOf(job);
  expect(batches).toBeGreaterThan(0);
  expect(done).toBeGreaterThan(0);
  expect(done).toBeLessThan(200);
  await sql`update jobs set state = 'running' where id = ${job.id}`.execute(db);
  await expireLease(job.id);
  await runJobs(db);
  expect(await stateOf(job)).toEqual({ state: 'done', done: 200, failed: 0, total: 200 });
  await finalizePending(db, gala.shardId);
  expect([...(await cancellationsOf(db, gala)).values()]).toEqual(Array.from({ length: 200 }, () => 1));
});

test('only the process that has the lease works on a job', async () => {
  const { db, gala, ticketId } = given;
  await sell(db, gala, ticketId, 5);
  const job = await start();
  const lease = randomUUID();
  await sql`
    update jobs set lease = ${lease}, leased_until = now() + interval '1 hour' where id = ${job.id}`.execute(
    db,
  );
  await runJobs(db);
  expect(await stateOf(job)).toMatchObject({ state: 'running', done: 0 });
  const batch = async (by: string) => {
    const { rows } = await sql<{ result: { state: string; treated: number } }>`
      select run_job_batch(${gala.shardId}::integer, ${job.id}::uuid, ${by}::uuid, 5, 2, 1000) as result`.execute(
      db,
    );
    const { state, treated } = rows[0]!.result;
    return { state, treated };
  };
  expect(await batch(randomUUID())).toEqual({ state: 'lost', treated: 0 });
  expect(await stateOf(job)).toMatchObject({ done: 0 });
  expect(await batch(lease)).toEqual({ state: 'more', treated: 2 });
  await expireLease(job.id);
  await runJobs(db);
  expect(await stateOf(job)).toEqual({ state: 'done', done: 5, failed: 0, total: 5 });
  expect(await batch(lease)).toEqual({ state: 'lost', treated: 0 });
});

test('a job is deleted 90 days after its end, with what it could not do', async () => {
  const { db, database, gala, ticketId } = given;
  const worker = connectInTest(withRole(roleOf('worker'), database.url));
  onTestFinished(() => worker.destroy());
  await sell(db, gala, ticketId, 3);
  const [old, recent] = [await start({ state: 'reserved' }), await start()];
  await runJobs(db);
  for (const { id } of [old, recent])
    for (const item of ['1', '2'])
      await sql`
        insert into job_failures (shard_id, job_id, item, reason)
        values (${gala.shardId}, ${id}, ${item}, 'admitted')`.execute(db);
  await sell(db, gala, ticketId, 1);
  const open = await start();
  await jobPause(db, { jobId: open.id }, ANN);
  const ended = (id: string, days: number) =>
    sql`update jobs set ended_at = now() - make_interval(days => ${days}::integer) where id = ${id}`.execute(
      db,
    );
  await ended(old.id, JOB_RETENTION_DAYS + 1);
  await ended(recent.id, JOB_RETENTION_DAYS - 1);
  expect(await deleteOldJobs(worker, gala.shardId)).toBe(false);
  await expect(findJob(db, old.id)).rejects.toThrow('no such job');
  expect(await stateOf(recent)).toMatchObject({ state: 'done' });
  expect(await stateOf(open)).toMatchObject({ state: 'paused' });
  const { rows } = await sql<{ id: string }>`
    select job_id as id from job_failures where job_id in (${old.id}, ${recent.id})`.execute(db);
  expect(rows).toEqual([{ id: recent.id }, { id: recent.id }]);
  await jobAbort(db, { jobId: open.id }, ANN);
});

test('an item that cannot be treated is named with its reason, and the others are done', async () => {
  const { db, gala, ticketId } = given;
  const serials = await sell(db, gala, ticketId, 8);
  // Who asks for those that are not admitted does not mean one that is let in meanwhile.
  const job = await start({ admitted: false });
  await sql`
    insert into admissions (shard_id, event_id, partner_id, registration, seat, area, gate_id, device_id, counter, at, is_open)
    values (${gala.shardId}, ${gala.eventId}, ${gala.partnerId}, ${serials[3]}, ${serials[3]}, 'main', 1, 1, 1, now(), true)`.execute(
    db,
  );
  await runJobs(db);
  expect(await stateOf(job)).toEqual({ state: 'done', done: 7, failed: 1, total: 8 });
  const { failures } = await jobFailures(db, { jobId: job.id }, ANN);
  expect(failures).toMatchObject([{ item: `GALA-${gala.eventId}-${serials[3]}-…`, reason: 'admitted' }]);
  await finalizePending(db, gala.shardId);
  const cancelled = (await journalOf(db, gala)).filter(({ kind }) => kind === 'cancelled');
  // So attendees hear of it as the event has it for cancellations by an operator.
  expect(cancelled.map(({ byOperator }) => byOperator)).toEqual(Array.from({ length: 7 }, () => true));
});

test('a row that Postgres refuses does not stop a job', async () => {
  const { db, gala, ticketId } = given;
  const serials = await sell(db, gala, ticketId, 9);
  const job = await start();
  // Any cancellation of this one fails.
  await sql`
    create function refuse() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$`.execute(
    db,
  );
  await sql
    .raw(
      `create trigger refuse before update on registrations for each row
    when (new.serial = ${serials[4]} and new.cancelled_at is not null) execute function refuse()`,
    )
    .execute(db);
  try {
    await runJobs(db);
  } finally {
    await sql`drop trigger refuse on registrations`.execute(db);
    await sql`drop function refuse`.execute(db);
  }
  expect(await stateOf(job)).toEqual({ state: 'done', done: 8, failed: 1, total: 9 });
  const { failures } = await jobFailures(db, { jobId: job.id }, ANN);
  expect(failures).toMatchObject([{ reason: 'P0001' }]);
});

test('passes are sent again by filter, and what is not confirmed is named', async () => {
  const { db, database, gala, ticketId } = given;
  const { shardId, eventId } = gala;
  const serials = await sell(db, gala, ticketId, 4);
  await finalizePending(db, shardId);
  const run = (...args: string[]) => runCli({ DATABASE_URL: database.url }, ...args);
  const states = ['sent', 'undeliverable', 'sending'];
  for (const [index, state] of states.entries())
    await sql`
      insert into deliveries (shard_id, event_id, kind, subject, state, attempts)
      values (${shardId}, ${eventId}, 'confirmation', ${String(serials[index])}, ${state}, 3)`.execute(db);
  const off = await run('registration', 'resend-all', '--event', String(eventId), '--expect', '4');
  expect(off).toMatchObject({ code: 1, output: expect.stringMatching('not enabled') as string });
  await run('mail', 'enable', String(eventId));
  const shown = await run('mail', 'retry-all', '--event', String(eventId));
  expect(shown.output).toMatch(`--expect 1 --up-to ${serials[1]}`);
  await run('mail', 'retry-all', '--event', String(eventId), '--expect', '1');
  await runJobs(db);
  const stored = async () => {
    const { rows } = await sql<{ state: string; attempts: number }>`
      select state, attempts from deliveries where event_id = ${eventId} order by subject::bigint`.execute(
      db,
    );
    return rows.map(({ state, attempts }) => `${state} ${attempts}`);
  };
  expect(await stored()).toEqual(['sent 3', 'queued 0', 'sending 3']);
  const started = await run(
    'registration',
    'resend-all',
    '--event',
    String(eventId),
    '--expect',
    '4',
    '--json',
  );
  await sql`update registrations set cancelled_at = now() where serial = ${serials[3]}`.execute(db);
  await runJobs(db);
  await sql`update registrations set cancelled_at = null where serial = ${serials[3]}`.execute(db);
  expect(await stored()).toEqual(['queued 0', 'queued 0', 'sending 3']);
  const failures = await run('job', 'failures', (JSON.parse(started.output) as Job).id);
  expect(failures.output).toMatch(/is being sent[^]*cancelled/);
});

test('the commands show a preview, start with its numbers, and follow the progress', async () => {
  const { db, database, gala, ticketId } = given;
  await sell(db, gala, ticketId, 3);
  const event = String(gala.eventId);
  const run = (...args: string[]) => runCli({ DATABASE_URL: database.url }, ...args);
  const shown = await run('registration', 'cancel-all', '--event', event, '--name', 'jane');
  const [, ...numbers] = /(--expect) (\d+) (--up-to) (\d+)/.exec(shown.output)!;
  const line = ['registration', 'cancel-all', '--event', event, '--name', 'jane', numbers[0]!, '2'];
  expect(await run(...line)).toMatchObject({
    code: 1,
    output: expect.stringMatching('had 2 .* now there are 3') as string,
  });
  const waiting = run(...line.slice(0, -1), '3', '--wait', '--json', '--by', 'Ada');
  const isStarted = async () =>
    (await sql`select from jobs where event_id = ${gala.eventId}`.execute(db)).rows.length > 0;
  await waitUntil('the job is started', isStarted);
  await runJobs(db);
  const { code, output } = await waiting;
  expect(code).toBe(0);
  expect(output).toContain('{"state":"done","done":3,"failed":0,"total":3}\n');
  const { jobs } = JSON.parse((await run('job', 'list', '--event', event, '--json')).output) as {
    jobs: Job[];
  };
  expect(jobs).toMatchObject([{ kind: 'cancel', state: 'done', createdBy: 'Ada' }]);
  expect((await run('job', 'show', jobs[0]!.id)).output).toMatch(/done +3\n/);
  expect(await run('job', 'show', randomUUID())).toMatchObject({ code: 1 });
  expect(await run('registration', 'cancel-all', '--event', event, '--state', 'cancelled')).toMatchObject({
    code: 2,
  });
});
