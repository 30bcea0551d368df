import type { BatchState, Database } from '@floodgate/database';
import type { JournalKind, Schema } from '@floodgate/database/schema/schema';
import type { ColumnType, Generated, Kysely } from 'kysely';

type CreatedAt = ColumnType<Date, Date | undefined, never>;

/** Tables with the columns that the product uses only in SQL text. */
export interface StoredTables extends Omit<
  Schema,
  'changes' | 'deliveries' | 'idempotency_keys' | 'registrations' | 'secret_key_uses'
> {
  batches: {
    shard_id: Generated<number>;
    id: string;
    state: Generated<BatchState>;
    size: number;
    first_serial: number;
    last_serial: number;
    event_id: number | null;
    partner_id: number | null;
    created_at: CreatedAt;
    pending_since: Generated<Date>;
    finished_at: Date | null;
    relay_at: Generated<Date>;
    enqueues: Generated<number>;
    failure: string | null;
    journal_offset: number | null;
    sold_out: number[] | null;
    answer: unknown;
  };
  registrations: Schema['registrations'] & {
    batch_id: string;
    position: number;
    ticket_id: number;
    pass_code: number;
    attendee_digest: string | null;
    reserved_at: CreatedAt;
    held_until: Date | null;
    replaced_by: number | null;
    full_name: string;
    email_address: string;
    phone_number: string | null;
    gender: string | null;
    table_or_seat: string | null;
    extra_data_1: string | null;
    extra_data_2: string | null;
  };
  changes: Schema['changes'] & {
    id: Generated<number>;
    at: CreatedAt;
    event_id: number | null;
    partner_id: number | null;
    batch_id: string | null;
    serials: number[] | null;
  };
  journal_segments: {
    shard_id: number;
    event_id: number;
    partner_id: number;
    last_offset: number;
    count: number;
    at: CreatedAt;
    kind: JournalKind;
    ticket_id: number | null;
    first_serial: number | null;
    last_serial: number | null;
    serials: number[] | null;
  };
  deliveries: Schema['deliveries'] & {
    revision: Generated<number>;
    attempts: Generated<number>;
    possibly_twice: Generated<boolean>;
    due_at: Generated<Date>;
    lease: string | null;
    tried_at: Date | null;
  };
  idempotency_keys: {
    shard_id: Generated<number>;
    partner_id: number;
    event_id: number;
    key: string;
    fingerprint: string;
    outcomes: string[] | null;
    serials: (number | null)[];
    created_at: ColumnType<Date, Date | undefined, Date>;
  };
  consumer_scans: { shard_id: number; last_offset: number };
  attendee_scans: { shard_id: number; last_offset: number; refill_below: number };
  search_entries: { shard_id: number; serial: number };
  secret_key_uses: { key_id: string; hour: Date };
  test_resets: Record<'shard_id' | 'event_id' | 'partner_id' | 'journal_offset', number>;
  webhook_attempts: { shard_id: number; endpoint_id: string; message_id: string };
  audit_log: {
    id: number;
    at: Date;
    actor: string;
    action: string;
    subject: string;
    before: Record<string, unknown> | null;
    after: Record<string, unknown> | null;
  };
}

/** Returns the database with the types of all columns. */
export const tablesOf = (db: Database) => db as unknown as Kysely<StoredTables>;
