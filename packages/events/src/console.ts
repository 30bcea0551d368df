import { Type } from '@sinclair/typebox';
import { Id } from '@floodgate/audit';
import { performs, reads } from '@floodgate/operators';
import {
  archiveEventAction,
  createEventAction,
  grantEventAction,
  moveEventAction,
  notifyHoldersAction,
  restoreEventAction,
  revokeEventAction,
  updateEventAction,
} from './actions.ts';
import { findEvent, listEvents, listShards } from './events.ts';

const None = Type.Object({});
const OneEvent = Type.Object({ eventId: Id });

export const eventOperations = [
  reads(
    ['GET /events', 'events:read', 'List events, oldest first: those that are archived, or the others'],
    'eventList',
    Type.Object({ archived: Type.Optional(Type.Boolean({ description: 'true or false' })) }),
    ({ db }, { archived }) => listEvents(db, archived),
  ),
  reads(
    ['GET /events/{eventId}', 'events:read', 'Show an event'],
    'eventShow',
    OneEvent,
    ({ db }, { eventId }) => findEvent(db, eventId),
  ),
  performs(['POST /events', 'events:write', 'Add an event'], createEventAction),
  performs(
    ['PATCH /events/{eventId}', 'events:write', 'Change the given settings of an event'],
    updateEventAction,
  ),
  performs(
    ['POST /events/{eventId}/notify-holders', 'events:write', 'Send the new time and place to attendees'],
    notifyHoldersAction,
  ),
  performs(
    ['POST /events/{eventId}/archive', 'events:write', 'Hide an event from lists'],
    archiveEventAction,
  ),
  performs(
    ['POST /events/{eventId}/restore', 'events:write', 'Show an archived event in lists'],
    restoreEventAction,
  ),
  performs(
    ['PUT /events/{eventId}/partners/{partnerId}', 'events:write', 'Open an event to a partner'],
    grantEventAction,
  ),
  performs(
    ['DELETE /events/{eventId}/partners/{partnerId}', 'events:write', 'Close an event to a partner'],
    revokeEventAction,
  ),
  reads(
    ['GET /shards', 'events:read', 'List shards and the number of events in each'],
    'shardList',
    None,
    ({ db }) => listShards(db),
  ),
  performs(
    ['POST /events/{eventId}/move', 'events:write', 'Move an event without registrations to another shard'],
    moveEventAction,
  ),
];
