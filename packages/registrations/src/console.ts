import { Type } from '@sinclair/typebox';
import { Id, text, whole } from '@floodgate/audit';
import { findEvent } from '@floodgate/events';
import { readLags } from '@floodgate/journal';
import { Download, performs, reads } from '@floodgate/operators';
import { Failure } from '@floodgate/service/failure';
import {
  cancelRegistrationAction,
  correctRegistrationAction,
  redriveAction,
  redriveShards,
} from './actions.ts';
import { EXPORT_FORMATS, exportRegistrations } from './export/export-registrations.ts';
import { findAttendees } from './find/find-attendees.ts';
import { listFailedBatches, readBacklog } from './finalize/backlog.ts';
import { CURSOR_PROBLEMS, findByPassReference, listRegistrations } from './list/list-registrations.ts';
import { reconcile } from './reconcile/reconcile.ts';
import { findAttendee, statusOf } from './status/find-registrations.ts';

const OneRegistration = Type.Object({ passReference: text(1, 255) });
const limit = Type.Optional(whole(1, 1_000));
const State = Type.Union(
  (['held', 'reserved', 'confirmed', 'cancelled', 'failed'] as const).map((state) => Type.Literal(state)),
  { description: 'held, reserved, confirmed, cancelled or failed' },
);
const { shardId: _shard, ...redriven } = redriveAction.input.properties;

export const registrationOperations = [
  reads(
    [
      'GET /events/{eventId}/registrations',
      'registrations:read',
      "List the changes of a partner's registrations, in order",
    ],
    'registrationList',
    Type.Object({
      eventId: Id,
      partnerId: Id,
      after: Type.Optional(whole(0, Number.MAX_SAFE_INTEGER)),
      limit,
    }),
    async ({ db }, { eventId, partnerId, after = 0, limit: most = 100 }) => {
      const { shardId } = await findEvent(db, eventId);
      const page = await listRegistrations(db, { shardId, eventId, partnerId }, after, most);
      if (typeof page === 'string') throw new Failure(`after: ${CURSOR_PROBLEMS[page]}`);
      const { rows, ...rest } = page;
      return { registrations: rows.map(statusOf), ...rest };
    },
  ),
  reads(
    ['GET /registrations/{passReference}', 'registrations:read', 'Show the state of a registration'],
    'registrationShow',
    OneRegistration,
    async ({ db }, { passReference }) => {
      const { row, partnerId } = await findByPassReference(db, passReference);
      return { ...statusOf(row), partnerId, eventId: row.eventId };
    },
  ),
  reads(
    ['GET /registrations/{passReference}/attendee', 'attendees:read', 'Show the attendee of a registration'],
    'attendeeShow',
    OneRegistration,
    async ({ db }, { passReference }) => {
      const { row, shardId } = await findByPassReference(db, passReference);
      return findAttendee(db, shardId, row.serial);
    },
  ),
  reads(
    [
      'GET /events/{eventId}/attendees',
      'attendees:read',
      'Export the registrations of an event with their attendees, as csv or ndjson',
    ],
    'attendeeExport',
    Type.Object({
      eventId: Id,
      format: Type.Optional(
        Type.Union([Type.Literal('csv'), Type.Literal('ndjson')], { description: 'csv or ndjson' }),
      ),
    }),
    async ({ db }, { eventId, format = 'csv' }) => {
      await findEvent(db, eventId);
      return new Download(exportRegistrations(db, eventId, format), EXPORT_FORMATS[format]);
    },
  ),
  // Not a GET: proxies log addresses, which must not contain names.
  reads(
    [
      'POST /attendees/find',
      'attendees:read',
      'Find attendees by the beginning of their name or e-mail address, or list those of an event',
    ],
    'attendeeFind',
    Type.Object({
      eventId: Type.Optional(Id),
      namePrefix: Type.Optional(text(1, 255)),
      emailPrefix: Type.Optional(text(1, 254)),
      partnerId: Type.Optional(Id),
      ticketId: Type.Optional(Id),
      state: Type.Optional(State),
      after: Type.Optional(whole(0, Number.MAX_SAFE_INTEGER)),
      limit,
    }),
    ({ db }, { limit: most = 100, ...query }) => findAttendees(db, query, most),
  ),
  performs(
    [
      'POST /registrations/{passReference}/cancel',
      'registrations:write',
      'Cancel a registration, even after the deadline',
    ],
    cancelRegistrationAction,
  ),
  performs(
    [
      'PATCH /registrations/{passReference}/attendee',
      'attendees:write',
      'Correct the name or address of an attendee',
    ],
    correctRegistrationAction,
  ),
];

export const queueOperations = [
  reads(
    ['GET /backlog', 'queue:read', 'Show what waits for finalization and delivery'],
    'backlogShow',
    Type.Object({}),
    async ({ db }) => ({
      ...(await readBacklog(db)),
      deliveries: await readLags(db),
    }),
  ),
  reads(
    ['GET /batches/failed', 'queue:read', 'List failed batches, the oldest first'],
    'batchFailed',
    Type.Object({ eventId: Type.Optional(Id), limit }),
    ({ db }, { eventId, limit: most = 100 }) => listFailedBatches(db, { eventId, limit: most }),
  ),
  {
    ...performs(['POST /batches/redrive', 'queue:write', 'Retry failed batches'], redriveAction),
    input: Type.Object({ ...redriven, limit: Type.Optional(redriven.limit) }),
    run: ({ db }: { db: Parameters<typeof redriveShards>[0] }, selection: object, actor: string) =>
      redriveShards(db, { limit: 1_000, ...selection }, actor),
  },
  reads(
    ['GET /reconcile', 'queue:read', 'Prove that seats, registrations and batches agree'],
    'reconcile',
    Type.Object({}),
    async ({ db }) => {
      const differences = await reconcile(db);
      return { balanced: differences.length === 0, differences };
    },
  ),
];
