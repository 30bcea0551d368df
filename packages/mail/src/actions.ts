import { Type } from '@sinclair/typebox';
import { defineAction, Id } from '@floodgate/audit';
import type { Database } from '@floodgate/database';
import { dequeue } from '@floodgate/deliveries';
import { CONFIRMATION, EVENT_UPDATED, findEvent, keepInShard } from '@floodgate/events';
import { addConsumer, deleteConsumer, pauseConsumer, resumeConsumer } from '@floodgate/journal';
import { Failure } from '@floodgate/service/failure';
import { sql } from 'kysely';
import { digestOf } from './suppressions.ts';

// Spells "mail". Two operators at the same time would add two consumers.
const SWITCH_LOCK = 0x6d61696c;

/**
 * Locks the switch of an event's e-mails until the transaction ends. Returns the journal consumer that queues them; undefined: they are
 * off. Throws Failure if there is no such event.
 */
async function lockSwitch(transaction: Database, eventId: number) {
  await keepInShard(transaction, eventId);
  const { shardId } = await findEvent(transaction, eventId);
  await sql`select pg_advisory_xact_lock(${SWITCH_LOCK}, ${eventId}::integer)`.execute(transaction);
  const consumer = await transaction
    .selectFrom('journal_consumers')
    .select(['shard_id as shardId', 'id', 'event_id as eventId', 'state'])
    .where('shard_id', '=', shardId)
    .where('event_id', '=', eventId)
    .where('kind', '=', 'mail')
    .executeTakeFirst();
  return { shardId, consumer };
}

/** Switches e-mails on, for all who are confirmed, or for those who are confirmed from now on. */
export const switchOn = (db: Database, event: { shardId: number; eventId: number }, fromNow: boolean) =>
  addConsumer(db, { ...event, kind: 'mail', partnerId: 0, fromNow });

/** Switches the e-mails of an event on. */
export const enableMailAction = defineAction({
  name: 'mail.enable',
  input: Type.Object({
    eventId: Id,
    fromNow: Type.Optional(Type.Boolean({ description: 'true or false' })),
  }),
  run: async (transaction, { eventId, fromNow = false }, note) => {
    const { shardId, consumer } = await lockSwitch(transaction, eventId);
    if (consumer) throw new Failure('they are switched on already; resume continues after a pause');
    await switchOn(transaction, { shardId, eventId }, fromNow);
    note(`event:${eventId}`, { before: { mail: 'off' }, after: { mail: 'active', fromNow } });
    return { eventId, state: 'active' as const };
  },
});

type MailConsumer = NonNullable<Awaited<ReturnType<typeof lockSwitch>>['consumer']>;

const defineChange = (
  name: string,
  state: 'active' | 'paused' | 'off',
  change: (db: Database, consumer: MailConsumer) => Promise<void>,
) =>
  defineAction({
    name,
    input: Type.Object({ eventId: Id }),
    run: async (transaction, { eventId }, note) => {
      const { consumer } = await lockSwitch(transaction, eventId);
      if (!consumer) throw new Failure('its e-mails are not switched on');
      if (consumer.state !== state) {
        await change(transaction, consumer);
        note(`event:${eventId}`, { before: { mail: consumer.state }, after: { mail: state } });
      }
      return { eventId, state };
    },
  });

export const pauseMailAction = defineChange('mail.pause', 'paused', pauseConsumer);
export const resumeMailAction = defineChange('mail.resume', 'active', resumeConsumer);
/** Rows of attempts stay, so that nobody gets a second e-mail when they are switched on again. */
export const disableMailAction = defineChange('mail.disable', 'off', async (db, consumer) => {
  await deleteConsumer(db, consumer);
  for (const kind of [CONFIRMATION, EVENT_UPDATED]) await dequeue(db, { ...consumer, kind });
});

/** Sends e-mails to an address again that was refused for good. The audit log gets its digest only. */
export const liftSuppressionAction = defineAction({
  name: 'mail.unsuppress',
  input: Type.Object({
    address: Type.String({
      pattern: '@|^[0-9a-f]{64}$',
      description: 'an address, or its digest, from the list',
    }),
  }),
  run: async (transaction, { address }, note) => {
    const digest = address.includes('@') ? digestOf(address) : address;
    const lifted = transaction.deleteFrom('mail_suppressions').where('digest', '=', digest);
    const { numDeletedRows } = await lifted.executeTakeFirst();
    if (numDeletedRows === 0n) throw new Failure('this address is not suppressed');
    note(`mail-address:${digest}`, { before: { suppressed: true } });
    return { digest, suppressed: false };
  },
});
