import { Type } from '@sinclair/typebox';
import { defineAction, Id } from '@floodgate/audit';
import type { Database } from '@floodgate/database';
import { findShard, keepInShard } from '@floodgate/events';
import { Failure } from '@floodgate/service/failure';
import {
  lockSwitch,
  readSwitch,
  setState,
  switchOff,
  switchOn,
  type MailSwitch,
  type SwitchedEvent,
} from './switch.ts';
import { liftSuppression } from './suppressions.ts';

export { perform } from '@floodgate/audit';

const OfEvent = Type.Object({ eventId: Id });

/** Returns the event with its switch, locked. Throws Failure if there is no such event. */
async function lockEvent(
  transaction: Database,
  eventId: number,
): Promise<SwitchedEvent & { state: MailSwitch }> {
  await keepInShard(transaction, eventId);
  const shardId = await findShard(transaction, eventId);
  if (shardId === undefined) throw new Failure('no such event');
  await lockSwitch(transaction, { shardId, eventId });
  return { shardId, eventId, state: await readSwitch(transaction, { shardId, eventId }) };
}

/** Switches the e-mails of an event on. */
export const enableMailAction = defineAction({
  name: 'mail.enable',
  input: Type.Object({
    eventId: Id,
    fromNow: Type.Optional(Type.Boolean({ description: 'true or false' })),
  }),
  run: async (transaction, { eventId, fromNow = false }, note) => {
    const event = await lockEvent(transaction, eventId);
    if (event.state !== 'off')
      throw new Failure('they are switched on already; resume continues after a pause');
    await switchOn(transaction, event, fromNow);
    note(`event:${eventId}`, { before: { mail: 'off' }, after: { mail: 'active', fromNow } });
    return { eventId, state: 'active' as const };
  },
});

/** Changes of e-mails that are switched on. */
const CHANGES = {
  disable: { to: 'off', change: switchOff },
  pause: { to: 'paused', change: (db: Database, event: SwitchedEvent) => setState(db, event, 'paused') },
  resume: { to: 'active', change: (db: Database, event: SwitchedEvent) => setState(db, event, 'active') },
} as const;

const defineChange = (name: keyof typeof CHANGES) =>
  defineAction({
    name: `mail.${name}`,
    input: OfEvent,
    run: async (transaction, { eventId }, note) => {
      const { to, change } = CHANGES[name];
      const event = await lockEvent(transaction, eventId);
      if (event.state === 'off') throw new Failure('its e-mails are not switched on');
      if (event.state !== to) {
        await change(transaction, event);
        note(`event:${eventId}`, { before: { mail: event.state }, after: { mail: to } });
      }
      return { eventId, state: to };
    },
  });

export const disableMailAction = defineChange('disable');
export const pauseMailAction = defineChange('pause');
export const resumeMailAction = defineChange('resume');

/** Sends e-mails to an address again that was refused for good. The audit log gets its digest only. */
export const liftSuppressionAction = defineAction({
  name: 'mail.unsuppress',
  input: Type.Object({
    digest: Type.String({
      pattern: '^[0-9a-f]{64}$',
      description: 'the digest of an address, from the list',
    }),
  }),
  run: async (transaction, { digest }, note) => {
    if (!(await liftSuppression(transaction, digest))) throw new Failure('this address is not suppressed');
    note(`mail-address:${digest}`, { before: { suppressed: true } });
    return { digest, suppressed: false };
  },
});
