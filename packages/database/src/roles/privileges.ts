import { TICKET_COLUMNS, type Schema } from '../schema/schema.ts';

/** A process with a database role of its own. The operator's command is the owner's. */
export const SERVICES = ['api', 'worker', 'delivery'] as const;
export type ServiceName = (typeof SERVICES)[number];

/** The delivery process reads the journal, not the queue. */
export const usesQueue = (service: ServiceName) => service !== 'delivery';

type Tables = Schema & {
  kysely_migration: { name: string };
  kysely_migration_lock: object;
  registrations_serial_seq: object;
};

/** What may be done with the columns of a table, or with a sequence; with what is not named, nothing. */
export interface TablePrivileges<Column = string> {
  /** '*': every column, later ones included. */
  select?: readonly (Column | 'ctid')[] | '*';
  /** Those with a default, too: Citus names them in what it sends to a shard. */
  insert?: readonly Column[];
  /** Also what locking a row takes, whichever column it is. */
  update?: readonly Column[];
  delete?: true;
  /** Of a sequence: to take its next number. */
  usage?: true;
}

// Of a registration: which seat it is. Readable by the API, so nothing of an attendee stands here.
const SEAT = [
  'shard_id',
  'serial',
  'batch_id',
  'position',
  'partner_id',
  'event_id',
  'ticket_id',
  'pass_code',
] as const;
// And what its attendee said, which the API only writes.
const ATTENDEE = [
  'full_name',
  'email_address',
  'phone_number',
  'gender',
  'table_or_seat',
  'extra_data_1',
  'extra_data_2',
] as const;

const SEGMENT = [
  'shard_id',
  'event_id',
  'partner_id',
  'last_offset',
  'count',
  'kind',
  'ticket_id',
  'first_serial',
  'last_serial',
  'serials',
  'at',
] as const;

// How far a consumer has come: who manages it changes that, and who delivers.
const CONSUMER_PROGRESS = [
  'last_offset',
  'until',
  'state',
  'failures',
  'failing_since',
  'next_at',
  'lease',
  'leased_until',
] as const;
const CONSUMER = [
  'shard_id',
  'id',
  'kind',
  'event_id',
  'partner_id',
  ...CONSUMER_PROGRESS,
  'created_at',
] as const;

const ENDPOINT = [
  'shard_id',
  'id',
  'event_id',
  'partner_id',
  'url',
  'description',
  'types',
  'entry_limit',
  'chain_offset',
  'replays',
  'disabled_reason',
  'paused_by',
  'test_message',
  'created_at',
] as const;
const NOTICE = [
  'shard_id',
  'id',
  'message_id',
  'failing_since',
  'given_up_at',
  'state',
  'reason',
  'attempts',
  'next_at',
  'sent_at',
] as const;
const MAIL_DELIVERY = [
  'shard_id',
  'event_id',
  'serial',
  'state',
  'reason',
  'attempts',
  'doubtful',
  'next_at',
  'since',
  'at',
] as const;

// Who signs passes needs all of a key.
const PASS_KEY = ['id', 'private_key', 'public_key', 'created_at', 'retired_at', 'withdrawn_at'] as const;

/**
 * What each service may do: what its statements need, and nothing else. A table that is missing here does not compile,
 * a column that is missing is refused by Postgres. The API writes attendees' data and cannot read it back.
 */
export const PRIVILEGES: Record<ServiceName, { [T in keyof Tables]: TablePrivileges<keyof Tables[T]> }> = {
  api: {
    partners: { select: ['id', 'requests_per_second', 'weight'] },
    secret_keys: {
      // The last use: only for the release before.
      select: ['key_id', 'partner_id', 'secret_hash', 'mode', 'expires_at', 'revoked_at', 'last_used_at'],
      update: ['last_used_at'],
    },
    secret_key_uses: { select: ['key_id', 'hour'], insert: ['key_id', 'hour'], update: ['hour'] },
    shards: { select: ['id'] },
    events: {
      select: [
        'id',
        'ref',
        'shard_id',
        'pass_prefix',
        'mode',
        'duplicate_policy',
        'duplicate_scope',
        'cancel_until',
        'starts_at',
        'ends_at',
      ],
    },
    event_grants: { select: ['partner_id', 'event_id'] },
    pass_keys: { select: PASS_KEY },
    tickets: { select: ['shard_id', ...TICKET_COLUMNS], update: ['taken'] },
    batches: {
      select: ['shard_id', 'id', 'state', 'first_serial', 'last_serial', 'finished_at'],
      insert: [
        'shard_id',
        'id',
        'state',
        'size',
        'first_serial',
        'last_serial',
        'event_id',
        'partner_id',
        'events',
        'partners',
        'serials',
        'relay_at',
        'finished_at',
        'sold_out',
        'created_at',
        'pending_since',
        'enqueues',
      ],
    },
    registrations: {
      select: [...SEAT, 'attendee_digest', 'reserved_at', 'held_until', 'cancelled_at'],
      insert: [...SEAT, 'attendee_digest', 'reserved_at', 'held_until', ...ATTENDEE],
    },
    registrations_serial_seq: { usage: true },
    journal_heads: { select: '*' },
    journal_segments: { select: '*' },
    // Partners manage their webhooks. What those are signed with, the API writes and cannot read back.
    journal_consumers: {
      select: '*',
      insert: CONSUMER,
      update: CONSUMER_PROGRESS,
      delete: true,
    },
    webhook_endpoints: {
      select: '*',
      insert: ENDPOINT,
      update: [
        'url',
        'description',
        'types',
        'entry_limit',
        'chain_offset',
        'replays',
        'disabled_reason',
        'paused_by',
        'test_message',
      ],
      delete: true,
    },
    webhook_secrets: {
      select: ['shard_id', 'endpoint_id', 'id', 'public_key', 'created_at', 'ends_at'],
      insert: [
        'shard_id',
        'endpoint_id',
        'id',
        'secret',
        'private_key',
        'public_key',
        'created_at',
        'ends_at',
      ],
      update: ['ends_at'],
      delete: true,
    },
    webhook_attempts: { select: '*' },
    // It goes with its endpoint.
    webhook_notices: { select: ['shard_id', 'id'], delete: true },
    mail_deliveries: {},
    mail_suppressions: {},
    mail_rate_windows: {},
    idempotency_keys: {
      select: '*',
      insert: [
        'shard_id',
        'partner_id',
        'event_id',
        'key',
        'fingerprint',
        'outcome',
        'serial',
        'outcomes',
        'serials',
        'created_at',
      ],
      delete: true,
    },
    rate_limit_windows: {
      select: '*',
      insert: ['partner_id', 'epoch_second', 'drawn'],
      update: ['epoch_second', 'drawn'],
    },
    // What operators did is no business of a service's.
    audit_log: {},
    kysely_migration: { select: ['name'] },
    kysely_migration_lock: {},
  },
  worker: {
    partners: {},
    secret_keys: {},
    secret_key_uses: {},
    shards: { select: ['id'] },
    events: {},
    event_grants: {},
    pass_keys: {},
    tickets: { select: ['shard_id', 'id', 'event_id'] },
    batches: {
      select: [
        'shard_id',
        'id',
        'state',
        'size',
        'first_serial',
        'last_serial',
        'event_id',
        'partner_id',
        'events',
        'partners',
        'serials',
        'pending_since',
        'finished_at',
        'relay_at',
        'enqueues',
        'journal_offset',
        'sold_out',
      ],
      update: [
        'state',
        'finished_at',
        'failure',
        'relay_at',
        'enqueues',
        'journal_offset',
        'sold_out',
        'events',
        'partners',
        'serials',
      ],
    },
    // Whose they are, for the journal; not who they are.
    registrations: {
      select: ['shard_id', 'serial', 'batch_id', 'partner_id', 'event_id', 'held_until', 'cancelled_at'],
    },
    registrations_serial_seq: {},
    journal_heads: { select: '*', update: ['last_offset'] },
    journal_segments: { select: '*', insert: SEGMENT, delete: true },
    journal_consumers: {},
    webhook_endpoints: {},
    webhook_secrets: {},
    webhook_attempts: {},
    webhook_notices: {},
    mail_deliveries: {},
    mail_suppressions: {},
    mail_rate_windows: {},
    // By their time: the keys themselves are no business of the worker's. By ctid: only for the release before.
    idempotency_keys: { select: ['ctid', 'shard_id', 'created_at'], delete: true },
    rate_limit_windows: {},
    audit_log: {},
    kysely_migration: { select: ['name'] },
    kysely_migration_lock: {},
  },
  // It tells attendees and partners what became of registrations, so it may read who they are. It changes none.
  delivery: {
    // Whom to tell.
    partners: { select: ['id', 'contact_email'] },
    // A webhook is delivered only while its partner has access to the event.
    secret_keys: { select: ['partner_id', 'mode', 'expires_at', 'revoked_at'] },
    secret_key_uses: {},
    shards: { select: ['id'] },
    events: {
      select: [
        'id',
        'ref',
        'shard_id',
        'name',
        'pass_prefix',
        'mode',
        'starts_at',
        'ends_at',
        'venue',
        'time_zone',
        'language',
        'reply_to',
      ],
    },
    event_grants: { select: ['partner_id', 'event_id'] },
    pass_keys: { select: PASS_KEY },
    tickets: { select: ['shard_id', 'id', 'event_id', 'title'] },
    batches: { select: ['shard_id', 'id', 'state', 'finished_at'] },
    registrations: {
      select: [
        ...SEAT,
        'reserved_at',
        'held_until',
        'cancelled_at',
        'full_name',
        'email_address',
        'table_or_seat',
      ],
    },
    registrations_serial_seq: {},
    journal_heads: { select: '*' },
    journal_segments: { select: '*' },
    journal_consumers: {
      select: '*',
      update: CONSUMER_PROGRESS,
    },
    webhook_endpoints: { select: '*', update: ['chain_offset', 'disabled_reason', 'test_message'] },
    webhook_secrets: { select: '*' },
    webhook_attempts: {
      select: '*',
      insert: [
        'shard_id',
        'endpoint_id',
        'at',
        'id',
        'message_id',
        'after_offset',
        'last_offset',
        'entries',
        'took_ms',
        'outcome',
        'http_status',
        'error',
      ],
      delete: true,
    },
    webhook_notices: { select: '*', insert: NOTICE, update: NOTICE },
    mail_deliveries: { select: '*', insert: MAIL_DELIVERY, update: MAIL_DELIVERY },
    mail_suppressions: { select: '*', insert: ['digest', 'reason', 'event_id', 'at'] },
    mail_rate_windows: {
      select: '*',
      insert: ['sender_id', 'epoch_second', 'drawn'],
      update: ['epoch_second', 'drawn'],
    },
    idempotency_keys: {},
    rate_limit_windows: {},
    audit_log: {},
    kysely_migration: { select: ['name'] },
    kysely_migration_lock: {},
  },
};

// Called by what is written for Citus, on every server. Elsewhere they do not exist.
const ON_CITUS = ['hold_shard', 'shard_table'];

/** The functions that each service calls, and those that they call with its rights. Nobody else may execute them, except the owner. */
export const FUNCTIONS: Record<ServiceName, readonly string[]> = {
  api: ['reserve_batch', 'cancel_registrations', 'confirm_registrations', ...ON_CITUS],
  worker: ['finalize_batches', 'lease_batches', 'expire_holds', ...ON_CITUS],
  delivery: ['lease_consumers', 'oldest_news', 'consumer_lags', 'webhook_delivered'],
};

/** Returns what a service may do, by table and privilege; `columns` null stands for the whole table. */
export function privilegesOf(service: ServiceName) {
  return Object.entries<TablePrivileges>(PRIVILEGES[service]).flatMap(([table, privileges]) =>
    Object.entries(privileges).map(([privilege, columns]) => {
      return { table, privilege, columns: Array.isArray(columns) ? (columns as string[]) : null };
    }),
  );
}
