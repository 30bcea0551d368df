import { Type } from '@sinclair/typebox';
import { defineAction, Flag, Id, oneOf, text } from '@floodgate/audit';
import type { Database } from '@floodgate/database';
import { dequeue, findDelivery, queueDeliveries, requeueDeliveries, type Queue } from '@floodgate/deliveries';
import { CANCELLATION, CONFIRMATION, EVENT_KINDS, findEvent, keepInShard } from '@floodgate/events';
import { addConsumer, deleteConsumer, pauseConsumer, resumeConsumer } from '@floodgate/journal';
import { findByPassReference } from '@floodgate/registrations/list';
import { Failure } from '@floodgate/service/failure';
import { sql } from 'kysely';
import { REGISTRATION_KINDS } from './mails-of-registration.ts';

// Key of an advisory lock; it spells "mail". Without the lock, two operators at the same time could add two consumers.
const SWITCH_LOCK = 0x6d61696c;

/**
 * Locks the switch of an event's e-mails until the transaction ends. Returns the journal consumer that queues
 * them; undefined if they are disabled. Throws Failure if there is no such event.
 */
async function lockSwitch(db: Database, eventId: number) {
  await keepInShard(db, eventId);
  const { shardId } = await findEvent(db, eventId);
  await sql`select pg_advisory_xact_lock(${SWITCH_LOCK}, ${eventId}::integer)`.execute(db);
  const consumer = await db
    .selectFrom('journal_consumers')
    .select(['shard_id as shardId', 'id', 'event_id as eventId', 'state'])
    .where(({ and }) => and({ shard_id: shardId, event_id: eventId, kind: 'mail' }))
    .executeTakeFirst();
  return { shardId, consumer };
}

/** Enables the e-mails of an event: for all confirmed registrations, or only for later ones (`fromNow`). */
export const switchOn = (db: Database, event: { shardId: number; eventId: number }, fromNow: boolean) =>
  addConsumer(db, { ...event, kind: 'mail', partnerId: 0, fromNow });

/** Enables the e-mails of an event. */
export const enableMailAction = defineAction({
  name: 'mail.enable',
  input: Type.Object({ eventId: Id, fromNow: Type.Optional(Flag) }),
  run: async (db, { eventId, fromNow = false }, note) => {
    const { shardId, consumer } = await lockSwitch(db, eventId);
    if (consumer) throw new Failure('e-mails are already enabled; after a pause, use resume');
    await switchOn(db, { shardId, eventId }, fromNow);
    note(`event:${eventId}`, { before: { mail: 'off' }, after: { mail: 'active', fromNow } });
    return { eventId, state: 'active' as const };
  },
});

/** Like lockSwitch. Throws Failure if e-mails of the event are disabled. */
async function lockEnabled(db: Database, eventId: number) {
  const { consumer } = await lockSwitch(db, eventId);
  if (!consumer) throw new Failure('e-mails of this event are not enabled');
  return consumer;
}

type MailConsumer = NonNullable<Awaited<ReturnType<typeof lockSwitch>>['consumer']>;

const defineChange = (
  name: string,
  state: 'active' | 'paused' | 'off',
  change: (db: Database, consumer: MailConsumer) => Promise<void>,
) =>
  defineAction({
    name,
    input: Type.Object({ eventId: Id }),
    run: async (db, { eventId }, note) => {
      const consumer = await lockEnabled(db, eventId);
      if (consumer.state !== state) {
        await change(db, consumer);
        note(`event:${eventId}`, { before: { mail: consumer.state }, after: { mail: state } });
      }
      return { eventId, state };
    },
  });

export const pauseMailAction = defineChange('mail.pause', 'paused', pauseConsumer);
export const resumeMailAction = defineChange('mail.resume', 'active', resumeConsumer);
/** Deliveries that were attempted stay, so that no attendee gets a second e-mail if e-mails are enabled again. */
export const disableMailAction = defineChange('mail.disable', 'off', async (db, consumer) => {
  await deleteConsumer(db, consumer);
  for (const kind of EVENT_KINDS) await dequeue(db, { ...consumer, kind });
});

/**
 * Sends the pass of a confirmed registration again, or another e-mail about a registration. An e-mail that
 * waits for its first attempt is not sent twice.
 */
export const resendMailAction = defineAction({
  name: 'mail.resend',
  input: Type.Object({
    passReference: text(1, 255),
    kind: Type.Optional(oneOf(REGISTRATION_KINDS, REGISTRATION_KINDS.join(', '))),
  }),
  run: async (db, { passReference, kind = CONFIRMATION }, note) => {
    const { row, shardId } = await findByPassReference(db, passReference);
    const { serial, eventId, state } = row;
    const needed = kind === CANCELLATION ? 'cancelled' : 'confirmed';
    if (state !== needed)
      throw new Failure(
        kind === CONFIRMATION
          ? `the registration is ${state}; only a confirmed one has a pass`
          : `the registration is ${state}, not ${needed}`,
      );
    await lockEnabled(db, eventId);
    const queue = { shardId, eventId, kind };
    const { sentAt = null } = (await findDelivery(db, queue, String(serial))) ?? {};
    await requeue(db, queue, String(serial));
    // The delivery keeps only the time of the last one.
    note(`registration:${serial}`, {
      after: { mail: 'queued', kind, ...(sentAt && { sentBefore: sentAt }) },
    });
    return { passReference, state: 'queued' as const };
  },
});

/** Queues an e-mail again. Throws Failure if it is being sent now, or if there is none to send again. */
async function requeue(db: Database, queue: Queue, subject: string) {
  if ((await requeueDeliveries(db, queue, subject)) > 0) return;
  const existing = await findDelivery(db, queue, subject);
  if (existing?.state === 'sending') throw new Failure('an e-mail is being sent now; try again in a moment');
  if (queue.kind !== CONFIRMATION && existing?.state !== 'queued')
    throw new Failure(
      'there is no such e-mail about the registration; only one that was tried is sent again',
    );
  // Confirmed before e-mails were enabled, or so recently that its first e-mail is not queued yet.
  await queueDeliveries(db, queue, [{ kind: queue.kind, subject, since: new Date() }]);
}

/** Sends the passes of an event again, to everybody to whom it tried to send one. */
export const resendAllMailAction = defineAction({
  name: 'mail.resend-all',
  input: Type.Object({ eventId: Id }),
  run: async (db, { eventId }, note) => {
    const consumer = await lockEnabled(db, eventId);
    const queued = await requeueDeliveries(db, { ...consumer, kind: CONFIRMATION }, null);
    if (queued > 0) note(`event:${eventId}`, { after: { mailsQueued: queued } });
    return { eventId, queued };
  },
});

/** Ends the suppression of an address that was refused permanently. The audit log contains only the digest. */
export const liftSuppressionAction = defineAction({
  name: 'mail.unsuppress',
  input: Type.Object({
    address: Type.String({
      pattern: '@|^[0-9a-f]{64}$',
      description: 'an address, or its digest, from the list',
    }),
  }),
  run: async (db, { address }, note) => {
    // Composing needs memory that the console does not need otherwise.
    const { digestOf } = await import('./kinds/refusals.ts');
    const digest = address.includes('@') ? digestOf(address) : address;
    const lifted = db.deleteFrom('mail_suppressions').where('digest', '=', digest);
    const { numDeletedRows } = await lifted.executeTakeFirst();
    if (numDeletedRows === 0n) throw new Failure('this address is not suppressed');
    note(`mail-address:${digest}`, { before: { suppressed: true } });
    return { digest, suppressed: false };
  },
});
