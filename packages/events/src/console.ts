import { Type } from '@sinclair/typebox';
import { Flag, Id } from '@floodgate/audit';
import { operationsOn } from '@floodgate/operators';
import * as actions from './actions.ts';
import { findEvent, listEvents, listShards } from './events.ts';
import { listSellers, listSoldEvents } from './list-grants.ts';
import { findOutdated } from './outdated.ts';

export { countSellers, type Seller } from './list-grants.ts';

export { createEventAction, updateEventAction } from './actions.ts';
export { assertPrice, decimalsOf, isCurrency } from './currency.ts';
export { findEvent, type Event } from './events.ts';

const { actionOperation, listOperation, queryOperation } = operationsOn('events');

export const eventOperations = {
  eventList: listOperation(
    'GET /events',
    'List events, oldest first: those that are archived, or the others',
    'eventList',
    Type.Object({ archived: Type.Optional(Flag) }),
    (db, { archived }, { events }) => listEvents(db, archived, events),
  ),
  eventShow: queryOperation(
    'GET /events/{eventId}',
    'Show an event',
    'eventShow',
    Type.Object({ eventId: Id }),
    (db, { eventId }) => findEvent(db, eventId),
  ),
  eventCreate: actionOperation('POST /events', 'Add an event', actions.createEventAction),
  eventUpdate: actionOperation(
    'PATCH /events/{eventId}',
    'Change the given settings of an event',
    actions.updateEventAction,
  ),
  eventNotifyHolders: actionOperation(
    'POST /events/{eventId}/notify-holders',
    'Send the new time and place to attendees',
    actions.notifyHoldersAction,
  ),
  eventOutdated: queryOperation(
    'GET /events/{eventId}/notify-holders',
    'Show the last change of the time or place of which attendees were not told yet',
    'eventOutdated',
    Type.Object({ eventId: Id }),
    async (db, { eventId }) => {
      await findEvent(db, eventId);
      return { eventId, change: await findOutdated(db, eventId) };
    },
  ),
  eventArchive: actionOperation(
    'POST /events/{eventId}/archive',
    'Hide an event from lists',
    actions.archiveEventAction,
  ),
  eventRestore: actionOperation(
    'POST /events/{eventId}/restore',
    'Show an archived event in lists',
    actions.restoreEventAction,
  ),
  eventGrant: actionOperation(
    'PUT /events/{eventId}/partners/{partnerId}',
    'Open an event to a partner',
    actions.grantEventAction,
  ),
  eventRevoke: actionOperation(
    'DELETE /events/{eventId}/partners/{partnerId}',
    'Close an event to a partner',
    actions.revokeEventAction,
  ),
  eventPartners: queryOperation(
    'GET /events/{eventId}/partners',
    'List the partners that may sell an event, with their open keys for it',
    'eventPartners',
    Type.Object({ eventId: Id }),
    (db, { eventId }) => listSellers(db, eventId),
  ),
  partnerEvents: queryOperation(
    'GET /partners/{partnerId}/events',
    'List the events that a partner may sell, with its open keys for each',
    'partnerEvents',
    Type.Object({ partnerId: Id }),
    (db, { partnerId }) => listSoldEvents(db, partnerId),
  ),
  shardList: queryOperation(
    'GET /shards',
    'List shards and the number of events in each',
    'shardList',
    Type.Object({}),
    listShards,
  ),
  eventMove: actionOperation(
    'POST /events/{eventId}/move',
    'Move an empty event to another shard',
    actions.moveEventAction,
  ),
};
