import { formatPassReference, formatTimestamp } from '@floodgate/contract';
import { plainArray, type Database } from '@floodgate/database';
import type { JournalEntry } from '@floodgate/journal';
import { entryOf, registrationsOf } from '@floodgate/registrations/history';
import { sql, type RawBuilder } from 'kysely';

/** An entry as it is sent, with its position in the journal. */
export interface Item extends Pick<JournalEntry, 'offset' | 'at'> {
  /** The batch of its registration. */
  batchId: string | undefined;
  json: string;
}

/**
 * Returns entries as they are sent: a ticket, or a registration, an admission or an entry of a waiting list
 * as it was at that time. Leaves out what was deleted. The names of tickets and gates can change later.
 */
export async function describeEntries(
  db: Database,
  shardId: number,
  entries: readonly JournalEntry[],
  withReference: boolean,
): Promise<Item[]> {
  const bySubject = Object.groupBy(entries, subjectOf);
  const registrations = (await registrationsOf(db, shardId, bySubject.registration ?? [])).values();
  const admissions = await rowsOf(db, shardId, selectAdmissions, bySubject.admission);
  const waiting = await rowsOf(db, shardId, selectWaiting, bySubject.waiting);
  return entries.flatMap((entry): Item | Item[] => {
    const { offset, at, kind, serial } = entry;
    const itemOf = (type: string, data: object | undefined, batchId?: string) =>
      data ? { offset, at, batchId, json: JSON.stringify({ type, ...data }) } : [];
    const subject = subjectOf(entry);
    if (subject === 'ticket') return itemOf(`ticket.${kind}`, { ...ticketOf(entry), ...changeOf(entry) });
    if (subject === 'waiting') return itemOf(kind, waitingOf(entry, waiting.get(serial!)));
    const type = `registration.${kind}`;
    if (subject === 'admission') return itemOf(type, admissionOf(entry, admissions.get(serial!)));
    const row = registrations.next().value;
    return itemOf(type, row && entryOf(row, withReference), row?.batchId);
  });
}

function subjectOf({ kind, serial }: JournalEntry) {
  if (kind.startsWith('waiting.')) return 'waiting';
  if (kind.startsWith('admitted')) return 'admission';
  return serial === null ? 'ticket' : 'registration';
}

type Select<Row> = (shardId: number, serials: string | null) => RawBuilder<Row & { serial: number }>;

/** Returns the rows of the entries by serial. */
async function rowsOf<Row>(db: Database, shardId: number, select: Select<Row>, entries?: JournalEntry[]) {
  if (!entries) return new Map<number, Row>();
  const { rows } = await select(shardId, plainArray(entries.map(({ serial }) => serial))).execute(db);
  return new Map(rows.map((row) => [row.serial, row]));
}

const changeOf = ({ at }: JournalEntry) => ({ dateChanged: formatTimestamp(at) });

const ticketOf = ({ eventId, ticketId }: Pick<JournalEntry, 'eventId' | 'ticketId'>) => ({
  organizedEventID: eventId,
  organizedEventTicketID: ticketId,
});

interface Admission {
  registration: number;
  ticketId: number;
  passCode: number;
  prefix: string;
  gate: string;
  admittedAt: Date;
}

const selectAdmissions: Select<Admission> = (shardId, serials) => sql`
    select a.serial, a.registration, r.ticket_id as "ticketId", r.pass_code as "passCode", e.pass_prefix as prefix,
      g.name as gate, a.at as "admittedAt"
    from admissions a
    join registrations r on r.shard_id = a.shard_id and r.serial = a.registration
    join gates g on g.shard_id = a.shard_id and g.id = a.gate_id
    join events e on e.id = a.event_id
    where a.shard_id = ${shardId} and a.serial = any(${serials}::bigint[])`;

function admissionOf(entry: JournalEntry, row: Admission | undefined) {
  if (!row) return undefined;
  const { registration, ticketId, gate, admittedAt, ...reference } = row;
  const passReference = formatPassReference({ ...reference, eventId: entry.eventId, serial: registration });
  const dateAdmitted = formatTimestamp(admittedAt);
  return { passReference, ...ticketOf({ ...entry, ticketId }), gate, dateAdmitted, ...changeOf(entry) };
}

interface Waiting {
  id: string;
  ticketId: number;
  seats: number;
  partnerReference: string | null;
  expiresAt: Date | null;
}

const selectWaiting: Select<Waiting> = (shardId, serials) => sql`
    select serial, id, ticket_id as "ticketId", seats, partner_reference as "partnerReference",
      expires_at as "expiresAt"
    from waiting_entries where shard_id = ${shardId} and serial = any(${serials}::bigint[])`;

/** Returns an entry of a waiting list without its contact. */
function waitingOf(entry: JournalEntry, row: Waiting | undefined) {
  if (!row) return undefined;
  const { id, ticketId, seats, partnerReference, expiresAt } = row;
  // An entry that has just joined can have an offer by now.
  const dateExpires = entry.kind === 'waiting.joined' ? null : expiresAt && formatTimestamp(expiresAt);
  const ticket = ticketOf({ ...entry, ticketId });
  return { entry: id, ...ticket, seats, partnerReference, dateExpires, ...changeOf(entry) };
}
