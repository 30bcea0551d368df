import { parseMaskedReference } from '@floodgate/contract';
import { findEventOfJob } from '@floodgate/jobs/console';
import type { EventFields } from '@floodgate/operators';
import { eventOfToken } from '@floodgate/passes/console';
import { findEventsOfFailed } from '@floodgate/registrations/console';
import { findEventOfTicket } from '@floodgate/tickets/console';
import { findEventOfWebhook } from '@floodgate/webhooks/console';

/** Returns a list of the event, or an empty one. */
const listOf = (eventId: number | null | undefined) => (eventId ? [eventId] : []);

/**
 * The fields by which an input names something of an event. Gates and devices are not here: an operation on
 * one names its event as well, and finds it only there. A pass reference and a pass contain their event, so
 * nothing is looked up: the answer for a foreign event takes no longer than for none.
 */
export const EVENT_FIELDS: EventFields = {
  eventId: { missing: 'no such event', find: (_db, id) => Promise.resolve([Number(id)]) },
  ticketId: {
    missing: 'no such ticket',
    find: async (db, id) => listOf(await findEventOfTicket(db, Number(id))),
  },
  passReference: {
    missing: 'no such registration',
    find: (_db, text) => Promise.resolve(listOf(parseMaskedReference(String(text))?.eventId)),
  },
  token: {
    missing: 'no such pass',
    find: (_db, text) => Promise.resolve(listOf(eventOfToken(String(text)))),
  },
  webhookId: {
    missing: 'no such webhook',
    find: async (db, id) => listOf(await findEventOfWebhook(db, String(id))),
  },
  jobId: {
    missing: 'no such job',
    // The caller of a start can choose the id.
    isNewIfOptional: true,
    find: async (db, id) => listOf(await findEventOfJob(db, String(id))),
  },
  batchIds: {
    missing: 'no failed batch has this id',
    find: (db, ids) => findEventsOfFailed(db, Array.isArray(ids) ? ids.map(String) : []),
  },
};
