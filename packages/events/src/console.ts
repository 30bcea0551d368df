import { Type } from '@sinclair/typebox';
import { Flag, Id } from '@floodgate/audit';
import { operationsOn } from '@floodgate/operators';
import * as actions from './actions.ts';
import { findEvent, listEvents, listShards } from './events.ts';

const { performs, reads } = operationsOn('events');

export const eventOperations = [
  reads(
    'GET /events',
    'List events, oldest first: those that are archived, or the others',
    'eventList',
    { archived: Type.Optional(Flag) },
    (db, { archived }) => listEvents(db, archived),
  ),
  reads('GET /events/{eventId}', 'Show an event', 'eventShow', { eventId: Id }, (db, { eventId }) =>
    findEvent(db, eventId),
  ),
  performs('POST /events', 'Add an event', actions.createEventAction),
  performs('PATCH /events/{eventId}', 'Change the given settings of an event', actions.updateEventAction),
  performs(
    'POST /events/{eventId}/notify-holders',
    'Send the new time and place to attendees',
    actions.notifyHoldersAction,
  ),
  performs('POST /events/{eventId}/archive', 'Hide an event from lists', actions.archiveEventAction),
  performs('POST /events/{eventId}/restore', 'Show an archived event in lists', actions.restoreEventAction),
  performs(
    'PUT /events/{eventId}/partners/{partnerId}',
    'Open an event to a partner',
    actions.grantEventAction,
  ),
  performs(
    'DELETE /events/{eventId}/partners/{partnerId}',
    'Close an event to a partner',
    actions.revokeEventAction,
  ),
  reads('GET /shards', 'List shards and the number of events in each', 'shardList', {}, listShards),
  performs('POST /events/{eventId}/move', 'Move an empty event to another shard', actions.moveEventAction),
];
