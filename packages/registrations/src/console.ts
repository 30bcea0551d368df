import { Type } from '@sinclair/typebox';
import { Cursor, Id, Limit as limit, oneOf, text } from '@floodgate/audit';
import { typedAs } from '@floodgate/audit/input';
import { readThroughCache, type Database } from '@floodgate/database';
import { findEvent } from '@floodgate/events';
import { readLags } from '@floodgate/journal';
import { defineChange, operationsOn } from '@floodgate/operators';
import { InvalidInput, NotFound } from '@floodgate/service/failure';
import * as actions from './actions.ts';
import { isSeatAdmitted } from './change/change-registrations.ts';
import { EXPORT_FORMATS, exportRegistrations, SEPARATORS } from './export/export-registrations.ts';
import { AttendeeQuery, findAttendees, State } from './find/find-attendees.ts';
import { listFailedBatches, readBacklog } from './finalize/backlog.ts';
import { CURSOR_PROBLEMS, findByPassReference, listRegistrations } from './list/list-registrations.ts';
import { reconcile } from './reconcile/reconcile.ts';
import { entryOf, findAttendee } from './status/find-registrations.ts';

export { guestOperations } from './guests/operations.ts';

const { actionOperation, queryOperation } = operationsOn('registrations');
const attendees = operationsOn('attendees');
const queue = operationsOn('queue');

const keysOf = <Key extends string>(choices: Record<Key, string>) => Object.keys(choices) as Key[];

const OneRegistration = Type.Object({ passReference: text(1, 255) });

export const registrationOperations = {
  registrationList: queryOperation(
    'GET /events/{eventId}/registrations',
    "List the changes of a partner's registrations, in order, or the registrations with a reference of the partner",
    'registrationList',
    Type.Object({
      eventId: Id,
      partnerId: Id,
      after: Cursor,
      limit,
      state: Type.Optional(State),
      partnerReference: Type.Optional(text(1, 64)),
    }),
    async (db, { eventId, partnerId, after = 0, limit: most = 100, ...filters }) => {
      const { shardId } = await findEvent(db, eventId);
      const partner = db.selectFrom('partners').select('id').where('id', '=', partnerId);
      if (!(await partner.executeTakeFirst())) throw new NotFound('no such partner');
      const page = await listRegistrations(db, { shardId, eventId, partnerId, ...filters }, after, most);
      if (typeof page === 'string') throw new InvalidInput({ after: CURSOR_PROBLEMS[page] });
      const { rows, ...rest } = page;
      return { registrations: rows.map((row) => entryOf(row, true)), ...rest };
    },
  ),
  registrationShow: queryOperation(
    'GET /registrations/{passReference}',
    'Show the state of a registration',
    'registrationShow',
    OneRegistration,
    async (db, { passReference }) => {
      const { row, partnerId, shardId } = await findByPassReference(db, passReference);
      const admitted = await isSeatAdmitted(db, shardId, row.serial);
      return { ...entryOf(row, true), partnerId, eventId: row.eventId, admitted };
    },
  ),
  attendeeShow: attendees.queryOperation(
    'GET /registrations/{passReference}/attendee',
    'Show the attendee of a registration',
    'attendeeShow',
    OneRegistration,
    async (db, { passReference }) => {
      const { row, shardId } = await findByPassReference(db, passReference);
      return findAttendee(db, shardId, row.serial);
    },
  ),
  attendeeExport: attendees.queryOperation(
    'GET /events/{eventId}/attendees',
    'Export the registrations of an event with their attendees, as csv, excel (csv for Excel) or ndjson',
    'attendeeExport',
    Type.Object({
      eventId: Id,
      format: Type.Optional(oneOf(keysOf(EXPORT_FORMATS), 'csv, excel or ndjson')),
      separator: Type.Optional(oneOf(keysOf(SEPARATORS), 'comma, semicolon or tab')),
    }),
    async (db, { eventId, format = 'csv', separator }) => {
      await findEvent(db, eventId);
      const chunks = ReadableStream.from(exportRegistrations(db, eventId, { format, separator }));
      const headers = { 'content-type': EXPORT_FORMATS[format], 'content-disposition': 'attachment' };
      return new Response(chunks.pipeThrough(new TextEncoderStream()), { headers });
    },
  ),
  // Not a GET: proxies log addresses, which must not contain names.
  attendeeFind: attendees.queryOperation(
    'POST /attendees/find',
    'Find attendees by the beginning of their name or e-mail address, or list those of an event',
    'attendeeFind',
    Type.Object({ ...AttendeeQuery.properties, limit }),
    (db, { limit: most = 100, ...query }) => findAttendees(db, query, most),
  ),
  registrationCancel: actionOperation(
    'POST /registrations/{passReference}/cancel',
    'Cancel a registration, even after the deadline. If its seat was admitted, the person stays in the ' +
      'report of the doors',
    actions.cancelRegistrationAction,
  ),
  registrationCorrect: attendees.actionOperation(
    'PATCH /registrations/{passReference}/attendee',
    'Correct the name or address of an attendee',
    actions.correctRegistrationAction,
  ),
  registrationReplace: attendees.actionOperation(
    'POST /registrations/{passReference}/attendee',
    'Give the seat of a registration to another attendee; the old pass is revoked. If the seat was ' +
      'admitted, so is the new pass',
    actions.replaceAttendeeAction,
  ),
};

// It reads every registration, for up to the timeout of statements. Those who ask meanwhile wait for the same
// answer, so the console keeps its other connections.
const books = readThroughCache((_key: 'books', db: Database) => reconcile(db), 1);

export const queueOperations = {
  backlogShow: queue.queryOperation(
    'GET /backlog',
    'Show what waits for finalization and delivery',
    'backlogShow',
    Type.Object({}),
    async (db) => ({ ...(await readBacklog(db)), deliveries: await readLags(db) }),
  ),
  batchFailed: queue.queryOperation(
    'GET /batches/failed',
    'List failed batches, the oldest first',
    'batchFailed',
    Type.Object({ eventId: typedAs('--event', Type.Optional(Id)), limit }),
    (db, { eventId, limit: most = 100 }) => listFailedBatches(db, { eventId, limit: most }),
  ),
  // It performs its action in each shard.
  batchRedrive: defineChange(
    {
      method: 'POST',
      path: '/batches/redrive',
      id: 'batchRedrive',
      scope: 'queue:write',
      summary: 'Retry failed batches',
      action: actions.redriveAction.name,
      input: actions.RedriveSelection,
    },
    (db, given, { name }) => actions.redriveShards(db, given, name),
  ),
  reconcile: queue.queryOperation(
    'GET /reconcile',
    'Prove that seats, registrations and batches agree',
    'reconcile',
    Type.Object({}),
    async (db) => {
      const differences = await books.forceFetch('books', { context: db });
      return { balanced: differences.length === 0, differences };
    },
  ),
};
