import type { Database } from '@floodgate/database';
import { sql } from 'kysely';

/** The registrations of a seat. */
interface Seat {
  shardId: number;
  eventId: number;
  serials: readonly number[];
}

/** A fact about a registration that another part of the service stores. */
export interface StoryFact {
  serial: number;
  at: Date;
  /** `mail`: an e-mail. `admitted-again`: a conflict. `refused`: a scan that let nobody in. */
  kind: 'mail' | 'admitted' | 'admitted-again' | 'left' | 'undone' | 'refused';
  facts: Partial<Record<string, string>>;
  what: string;
}

/** The kinds of e-mails about a registration, in words. */
const MAILS: Record<string, string> = {
  confirmation: 'the pass',
  'event-updated': 'the new time and place',
  cancellation: 'the cancellation',
};

/** An e-mail as it is stored. `sentAt`: when it was sent last, also if it waits to be sent again. */
interface MailRow {
  serial: number;
  kind: string;
  state: string;
  reason: string | null;
  sentAt: Date | null;
  at: Date;
}

/**
 * Returns the e-mails about registrations: those that were sent, and those that were not. One that is sent again
 * is there twice until then.
 */
export async function readMailsOf(db: Database, { shardId, eventId, serials }: Seat): Promise<StoryFact[]> {
  const { rows } = await sql<MailRow>`
    select subject::bigint as serial, kind, state, reason, sent_at as "sentAt",
      case when state = 'sent' then sent_at else greatest(coalesce(tried_at, created_at), sent_at) end as at
    from deliveries
    where shard_id = ${shardId} and event_id = ${eventId} and kind = any(${Object.keys(MAILS)}::text[])
      and subject = any(${serials.map(String)}::text[])`.execute(db);
  return rows.flatMap((row) => {
    const { state, sentAt } = row;
    const before = sentAt && state !== 'sent' ? [{ ...row, state: 'sent', reason: null, at: sentAt }] : [];
    return [...before, row].map(mailFact);
  });
}

/** An earlier time at which an e-mail was sent, which the audit log has: the delivery keeps only the last one. */
export const sentBefore = (serial: number, kind: string, at: Date) =>
  mailFact({ serial, kind, state: 'sent', reason: null, sentAt: at, at });

function mailFact({ serial, kind, state, reason, at }: MailRow): StoryFact {
  const because = reason === null ? '' : ` (${reason})`;
  const facts = { mail: kind, state, ...(reason !== null && { reason }) };
  return { serial, at, kind: 'mail', facts, what: `e-mail with ${MAILS[kind]}: ${state}${because}` };
}

/** Returns when the seat was let in, left, and was let in by mistake. */
export async function readAdmissionsOf(
  db: Database,
  { shardId, eventId, serials }: Seat,
): Promise<StoryFact[]> {
  type Row = Record<'serial', number> &
    Record<'gate' | 'device', string> &
    Record<'leftAt' | 'undoneAt', Date | null> & { at: Date; isConflict: boolean };
  const { rows } = await sql<Row>`
    select a.registration as serial, a.at, a.left_at as "leftAt", a.undone_at as "undoneAt",
      a.again_of is not null as "isConflict", g.name as gate, d.name as device
    from admissions a
    join gates g on g.shard_id = ${shardId} and g.id = a.gate_id
    join devices d on d.shard_id = ${shardId} and d.id = a.device_id
    where a.shard_id = ${shardId} and a.event_id = ${eventId} and a.seat = ${serials[0]}`.execute(db);
  return rows.flatMap(({ serial, at, leftAt, undoneAt, isConflict, gate, device }) => {
    const place = `${gate}, ${device}`;
    const of = { serial, facts: { gate, device } };
    const found: StoryFact[] = [
      isConflict
        ? { ...of, at, kind: 'admitted-again', what: `let in again, a conflict: ${place}` }
        : { ...of, at, kind: 'admitted', what: `let in: ${place}` },
    ];
    if (leftAt) found.push({ ...of, at: leftAt, kind: 'left', what: `left: ${place}` });
    if (undoneAt)
      found.push({ ...of, at: undoneAt, kind: 'undone', what: `the admission was undone: ${place}` });
    return found;
  });
}

/** Returns the scans of passes of the seat that were refused. */
export async function readRefusedScansOf(
  db: Database,
  { shardId, eventId, serials }: Seat,
): Promise<StoryFact[]> {
  type Row = Pick<StoryFact, 'serial' | 'at'> & Record<'outcome' | 'gate' | 'device', string>;
  const { rows } = await sql<Row>`
    select s.serial, s.at, s.outcome, coalesce(g.name, 'no gate') as gate, d.name as device
    from scans s
    left join gates g on g.shard_id = ${shardId} and g.id = s.gate_id
    join devices d on d.shard_id = ${shardId} and d.id = s.device_id
    where s.shard_id = ${shardId} and s.event_id = ${eventId} and s.serial = any(${serials}::bigint[])
      and s.outcome not in ('admitted', 'exited', 'undone', 'superseded') and s.outcome <> 'admitted-again'`.execute(
    db,
  );
  return rows.map(({ serial, at, outcome, gate, device }) => ({
    serial,
    at,
    kind: 'refused',
    facts: { outcome, gate, device },
    what: `scan refused, ${outcome}: ${gate}, ${device}`,
  }));
}
