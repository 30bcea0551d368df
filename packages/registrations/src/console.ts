import { Type, type Static, type TObject } from '@sinclair/typebox';
import { Cursor, Id, Limit as limit, oneOf, text } from '@floodgate/audit';
import { typedAs } from '@floodgate/audit/input';
import { readThroughCache, type Database } from '@floodgate/database';
import { findEvent } from '@floodgate/events';
import { listFailingConsumers } from '@floodgate/journal';
import { defineChange, operationsOn } from '@floodgate/operators';
import { InvalidInput, NotFound } from '@floodgate/service/failure';
import * as actions from './actions.ts';
import { isSeatAdmitted } from './change/change-registrations.ts';
import { EXPORT_FORMATS, exportRegistrations, SEPARATORS } from './export/export-registrations.ts';
import { assertFilter, PERSONAL_FIELDS, RegistrationFilter } from './filter/filter.ts';
import { countMatches, findMatches } from './filter/matches.ts';
import { AttendeeQuery, findAttendees, State } from './find/find-attendees.ts';
import { findEventsOfFailed, listFailedBatches } from './finalize/backlog.ts';
import { readWork } from './finalize/findings.ts';
import { CURSOR_PROBLEMS, findByPassReference, listRegistrations } from './list/list-registrations.ts';
import { findPrice } from './price/price-of.ts';
import { reconcile } from './reconcile/reconcile.ts';
import { entryOf, findAttendee } from './status/find-registrations.ts';

export { BYTE_ORDER_MARK, csvLines, EXPORT_FORMATS, SEPARATORS } from './export/export-registrations.ts';

export { findEventsOfFailed, RegistrationFilter };
export { findingsOfWork, readWork, type Work } from './finalize/findings.ts';
export { passReferenceIn } from './find/search-terms.ts';
export { guestOperations } from './guests/operations.ts';

const { actionOperation, queryOperation } = operationsOn('registrations');
const attendees = operationsOn('attendees');
const queue = operationsOn('queue');

const keysOf = <Key extends string>(choices: Record<Key, string>) => Object.keys(choices) as Key[];

const OneRegistration = Type.Object({ passReference: text(1, 255) });

const ExportSettings = {
  format: Type.Optional(oneOf(keysOf(EXPORT_FORMATS), 'csv, excel or ndjson')),
  separator: Type.Optional(oneOf(keysOf(SEPARATORS), 'comma, semicolon or tab')),
};

/** Returns the registrations that a filter selects, as a file. */
async function exported(
  db: Database,
  { format = 'csv', separator, ...filter }: RegistrationFilter & Static<TObject<typeof ExportSettings>>,
) {
  assertFilter(filter);
  await findEvent(db, filter.eventId);
  const chunks = ReadableStream.from(exportRegistrations(db, filter.eventId, { format, separator, filter }));
  const headers = { 'content-type': EXPORT_FORMATS[format], 'content-disposition': 'attachment' };
  return new Response(chunks.pipeThrough(new TextEncoderStream()), { headers });
}

/** Operations on the registrations of an event that a filter selects. */
const byFilter = {
  // Not GETs: proxies log addresses, which must not contain names.
  registrationSearch: attendees.queryOperation(
    'POST /registrations/search',
    'List the registrations of an event that a filter selects, with their attendees',
    'registrationSearch',
    Type.Object({ ...RegistrationFilter.properties, after: Cursor, limit }),
    async (db, { after = 0, limit: most = 100, ...filter }) => {
      assertFilter(filter);
      const { shardId } = await findEvent(db, filter.eventId);
      return findMatches(db, shardId, filter, { after, limit: most });
    },
  ),
  registrationCount: queryOperation(
    'POST /registrations/count',
    'Count the registrations of an event that a filter selects',
    'registrationCount',
    RegistrationFilter,
    async (db, filter, caller) => {
      assertFilter(filter, caller.may('attendees:read'));
      const { shardId } = await findEvent(db, filter.eventId);
      return { count: (await countMatches(db, shardId, filter)).count };
    },
  ),
  attendeeExport: attendees.queryOperation(
    'GET /events/{eventId}/attendees',
    'Export the registrations of an event with their attendees, as csv, excel (csv for Excel) or ndjson',
    'attendeeExport',
    Type.Object({ ...Type.Omit(RegistrationFilter, PERSONAL_FIELDS).properties, ...ExportSettings }),
    exported,
  ),
  attendeeExportBy: attendees.queryOperation(
    'POST /registrations/export',
    'Export the registrations of an event that a filter selects, which can also name people',
    'attendeeExportBy',
    Type.Object({ ...RegistrationFilter.properties, ...ExportSettings }),
    exported,
  ),
};

export const registrationOperations = {
  ...byFilter,
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
    'Show the state of a registration, and the price of its seat',
    'registrationShow',
    OneRegistration,
    async (db, { passReference }) => {
      const { row, partnerId, shardId } = await findByPassReference(db, passReference);
      const admitted = await isSeatAdmitted(db, shardId, row.serial);
      const price = await findPrice(db, { shardId, eventId: row.eventId }, row.serial);
      const { currency } = await findEvent(db, row.eventId);
      const partner = db.selectFrom('partners').select('name').where('id', '=', partnerId);
      const { name } = await partner.executeTakeFirstOrThrow();
      const sale = { partnerId, partner: name, eventId: row.eventId, price, currency };
      return { ...entryOf(row, true), ...sale, admitted };
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
  // Not a GET: proxies log addresses, which must not contain names.
  attendeeFind: attendees.listOperation(
    'POST /attendees/find',
    'Find attendees, also on waiting lists, by words of the name, parts of the e-mail address, digits of the ' +
      "phone number, the partner's reference or the pass reference, or list those of an event, the newest first",
    'attendeeFind',
    Type.Object({ ...AttendeeQuery.properties, limit }),
    (db, { limit: most = 100, ...query }, { events }) => findAttendees(db, query, most, events),
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
    readWork,
  ),
  batchFailed: queue.listOperation(
    'GET /batches/failed',
    'List failed batches, the oldest first',
    'batchFailed',
    Type.Object({
      eventId: typedAs('--event', Type.Optional(Id)),
      reason: Type.Optional(text(1, 64)),
      limit,
    }),
    (db, { limit: most = 100, ...selection }, { events }) =>
      listFailedBatches(db, { ...selection, events, limit: most }),
  ),
  consumerFailing: queue.listOperation(
    'GET /consumers/failing',
    'List the e-mails of events and the webhooks that fail or are disabled, the oldest failure first',
    'consumerFailing',
    Type.Object({ limit }),
    (db, { limit: most = 100 }, { events }) => listFailingConsumers(db, most, events),
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
