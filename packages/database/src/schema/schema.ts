import type { ColumnType, Generated, GeneratedAlways } from 'kysely';

// The tables as TypeScript sees them. int8 and numeric arrive as numbers (connect.ts).

type CreatedAt = ColumnType<Date, Date | undefined, never>;
export type BatchState = 'pending' | 'confirmed' | 'failed';
/** What an entry of the journal tells. The last two are about a ticket, the others about a registration. */
export type JournalKind = 'confirmed' | 'cancelled' | 'failed' | 'sold_out' | 'reopened';
/** Who reads the journal: what sends e-mails to attendees, or a partner's webhook. */
export type ConsumerKind = 'mail' | 'webhook';
/** packages/deliveries draws them. */
export type DeliveryState =
  'queued' | 'sending' | 'sent' | 'retry' | 'undeliverable' | 'suppressed' | 'cancelled';
/** Paused: until somebody says otherwise. Disabled: by the service, which has given it up. */
export type ConsumerState = 'active' | 'paused' | 'disabled';
/** For an attendee that is registered already: a second seat, a refusal, or the first pass reference again. */
export type DuplicatePolicy = 'allow' | 'reject' | 'return_existing';
/** For what an attendee registers once, where not as often as they like. */
export type DuplicateScope = 'event' | 'ticket';

/** What a key opens, and what an event is: the real thing, or one for trying things out. Nobody outside ever hears of the latter. */
export type Mode = 'live' | 'test';

export interface TicketsTable {
  shard_id: Generated<number>;
  id: Generated<number>;
  event_id: number;
  title: string;
  price: Generated<number>;
  benefits: Generated<string>;
  active: Generated<boolean>;
  capacity: number;
  taken: Generated<number>;
  sale_starts_at: Date | null;
  sale_ends_at: Date | null;
  created_at: CreatedAt;
  created_by: Generated<number>;
  last_modified_at: Generated<Date>;
  last_modified_by: string;
}

/**
 * What is read of a ticket. Not *: services prepare their statements, and Postgres refuses a prepared one (0A000) once a
 * migration has given it another column. A column that is missing here does not compile.
 */
export const TICKET_COLUMNS = [
  'id',
  'event_id',
  'title',
  'price',
  'benefits',
  'active',
  'capacity',
  'taken',
  'sale_starts_at',
  'sale_ends_at',
  'created_at',
  'created_by',
  'last_modified_at',
  'last_modified_by',
] as const satisfies readonly (keyof TicketsTable)[];

/** What the audit log keeps of a thing: neither secrets nor their hashes, and nothing of an attendee's. */
export type AuditedState = Record<string, unknown>;

interface AuditedChange {
  id: GeneratedAlways<number>;
  at: CreatedAt;
  action: string;
  /** The kind and the id of what changed: "ticket:7". */
  subject: string;
  /** Null: it did not exist. */
  before: AuditedState | null;
  after: AuditedState | null;
}

export interface Schema {
  partners: {
    id: GeneratedAlways<number>;
    name: string;
    /** Null: no limit. */
    requests_per_second: number | null;
    /** Its share where partners compete, relative to others'. */
    weight: Generated<number>;
    created_at: CreatedAt;
    /** For notices about its webhooks. */
    contact_email: string | null;
  };
  /** How much of a second's limit the processes have drawn; written by drawPermits alone. */
  rate_limit_windows: {
    partner_id: number;
    /** Seconds since 1970, by Postgres's clock. */
    epoch_second: number;
    drawn: number;
  };
  secret_keys: {
    /** In clear, so that a key is found by an index and only then compared. */
    key_id: string;
    partner_id: number;
    /** SHA-256 of the secret, which has 256 random bits: nothing slower would add anything. */
    secret_hash: Buffer;
    /** As its text says. */
    mode: Generated<Mode>;
    created_at: CreatedAt;
    expires_at: Date | null;
    revoked_at: Date | null;
  };
  /** The hour of each key's last use. */
  secret_key_uses: {
    key_id: string;
    hour: Date;
  };
  /** Where events live, each with everything about it. */
  shards: {
    id: number;
    created_at: CreatedAt;
  };
  events: {
    id: GeneratedAlways<number>;
    shard_id: Generated<number>;
    ref: Generated<string>;
    name: string;
    pass_prefix: string;
    /** Only keys of the same mode open it. */
    mode: Generated<Mode>;
    duplicate_policy: Generated<DuplicatePolicy>;
    duplicate_scope: Generated<DuplicateScope>;
    /** Until when partners may cancel registrations. Null: at any time. */
    cancel_until: Date | null;
    created_at: CreatedAt;
    starts_at: Date | null;
    ends_at: Date | null;
    venue: string | null;
    /** Of the IANA's database. */
    time_zone: string | null;
    /** Of what attendees are sent. */
    language: Generated<string>;
    /** Where attendees' answers go. */
    reply_to: string | null;
    /** Rises with every change of the event. */
    revision: Generated<number>;
  };
  event_grants: {
    partner_id: number;
    event_id: number;
    created_at: CreatedAt;
  };
  /** What passes are signed with. */
  pass_keys: {
    id: number;
    /** Ed25519, in PKCS #8 and SPKI. */
    private_key: Buffer;
    public_key: Buffer;
    created_at: CreatedAt;
    /** Since when it signs no more. */
    retired_at: Date | null;
    /** Since when what it signed is not valid any more. */
    withdrawn_at: Date | null;
  };
  tickets: TicketsTable;
  batches: {
    shard_id: Generated<number>;
    id: string;
    state: Generated<BatchState>;
    size: number;
    /** The batch's registrations have serials in this range (other batches' may lie between). */
    first_serial: number;
    last_serial: number;
    /** Whose all its registrations are. Null: several events' or partners', or some were cancelled before they were confirmed. */
    event_id: number | null;
    partner_id: number | null;
    /**
     * Until it is finalized, by serial: the event and the partner of each registration where the above are null, and the serials
     * where there are gaps. Whatever is missing is read from the registrations, so a cancellation only has to empty these.
     */
    events: number[] | null;
    partners: number[] | null;
    serials: number[] | null;
    created_at: CreatedAt;
    /** When it was committed or, after that, redriven. */
    pending_since: Generated<Date>;
    finished_at: Date | null;
    /** When the relay looks after the batch, if it is not written into the journal by then. */
    relay_at: Generated<Date>;
    /** How often the batch was handed to the queue: the relay's next wait doubles with it. */
    enqueues: Generated<number>;
    /** The SQLSTATE or error name with which finalization gave up. Never a message: those hold data. */
    failure: string | null;
    /** Where what finalization wrote of it into the journal begins; null: not yet. */
    journal_offset: number | null;
    /** Tickets whose last seat it took. */
    sold_out: number[] | null;
    /** What reserve_batch answered; null: everybody got a seat. */
    answer: unknown;
  };
  registrations: {
    shard_id: Generated<number>;
    serial: Generated<number>;
    batch_id: string;
    position: number;
    partner_id: number;
    event_id: number;
    ticket_id: number;
    pass_code: number;
    /** Set only under events that take an attendee once, and under test events. */
    attendee_digest: string | null;
    reserved_at: CreatedAt;
    /** Until when its seat is held, unless it is confirmed. Null: for good. */
    held_until: Date | null;
    cancelled_at: Date | null;
    full_name: string;
    email_address: string;
    phone_number: string | null;
    gender: string | null;
    table_or_seat: string | null;
    extra_data_1: string | null;
    extra_data_2: string | null;
  };
  /** Changes that are committed and not published yet. */
  changes: {
    shard_id: number;
    id: Generated<number>;
    at: CreatedAt;
    kind: 'confirmed' | 'cancelled' | 'ticket';
    event_id: number | null;
    partner_id: number | null;
    batch_id: string | null;
    serials: number[] | null;
    ticket_id: number | null;
  };
  /** The last published state of a ticket. */
  ticket_states: {
    shard_id: number;
    ticket_id: number;
    kind: 'sold_out' | 'reopened';
  };
  /** How far a shard's journal is written. */
  journal_heads: {
    shard_id: number;
    last_offset: Generated<number>;
  };
  journal_segments: {
    shard_id: number;
    event_id: number;
    /** 0: the entries are the event's own, about a ticket. */
    partner_id: number;
    last_offset: number;
    count: number;
    kind: JournalKind;
    ticket_id: number | null;
    first_serial: number | null;
    last_serial: number | null;
    /** Null where they are all from the first to the last. */
    serials: number[] | null;
    at: CreatedAt;
  };
  /** Readers of the journal of an event, each with its progress. */
  journal_consumers: {
    shard_id: number;
    id: string;
    kind: ConsumerKind;
    event_id: number;
    /** 0: of all partners. */
    partner_id: number;
    /** Everything up to here was delivered. */
    last_offset: Generated<number>;
    /** Last offset of the range in flight. Null: there is none. */
    in_flight_until: number | null;
    /** Last entry for it that a scan has found. Null: nobody has looked yet. */
    news_offset: number | null;
    is_behind: GeneratedAlways<boolean>;
    state: Generated<ConsumerState>;
    /** Consecutive failed attempts. */
    failures: Generated<number>;
    failing_since: Date | null;
    /** When it may be leased again. */
    next_at: Generated<Date>;
    lease: string | null;
    leased_until: Date | null;
    created_at: CreatedAt;
  };
  /** How far the journal of each shard was scanned for news of consumers. */
  consumer_scans: {
    shard_id: number;
    last_offset: Generated<number>;
  };
  /** A partner's webhook. The id is the id of its journal consumer. */
  webhook_endpoints: {
    shard_id: number;
    id: string;
    event_id: number;
    partner_id: number;
    url: string;
    description: string;
    types: string[];
    /** Entries of one message, at most. */
    entry_limit: number;
    /** Cursor of the last message that was delivered. */
    chain_offset: number;
    /** How often a replay was requested. */
    replays: Generated<number>;
    /** Why the service has given it up, where it has. */
    disabled_reason: string | null;
    /** Null: it is not paused. */
    paused_by: 'partner' | 'operator' | null;
    /** Id of a message that was asked for to try the endpoint. Null: none is to be sent. */
    test_message: string | null;
    created_at: CreatedAt;
  };
  /** What its messages are signed with. The service needs them as they are. */
  webhook_secrets: {
    shard_id: number;
    endpoint_id: string;
    id: string;
    /** Of HMAC. */
    secret: Buffer;
    /** Of Ed25519, 32 bytes each. */
    private_key: Buffer;
    public_key: Buffer;
    created_at: CreatedAt;
    /** Null: it is the current one. */
    ends_at: Date | null;
  };
  /** Messages that were sent, or not. Kept for a while. */
  webhook_attempts: {
    shard_id: number;
    endpoint_id: string;
    at: CreatedAt;
    id: Generated<string>;
    message_id: string;
    /** What the message told: what comes after the one, up to the other. Null: it was a test. */
    after_offset: number | null;
    last_offset: number | null;
    entries: number;
    took_ms: number;
    outcome: string;
    http_status: number | null;
    /** A name, never a message: those hold data. */
    error: string | null;
  };
  /** Everything that is sent to one recipient. */
  deliveries: {
    shard_id: number;
    event_id: number;
    kind: string;
    /** The serial of a registration, or the id of a webhook. */
    subject: string;
    /** Which edition of the message. */
    revision: Generated<number>;
    state: Generated<DeliveryState>;
    /** Attempts that counted. */
    attempts: Generated<number>;
    /** An earlier attempt may have succeeded: its outcome is unknown. */
    possibly_twice: Generated<boolean>;
    /** When it may be leased. While it is being sent: the end of the lease. */
    due_at: Generated<Date>;
    lease: string | null;
    /** Codes of the SMTP server, or one of our own. Never the server's text: it contains addresses. */
    reason: string | null;
    created_at: CreatedAt;
    tried_at: Date | null;
    /** When the last message was sent, in any edition. */
    sent_at: Date | null;
  };
  /** Addresses that get no more e-mails. */
  mail_suppressions: {
    /** SHA-256 of the address. */
    digest: string;
    reason: string;
    /** Of which event the refused e-mail was. */
    event_id: number;
    at: CreatedAt;
  };
  /** How much of a second's sending rate the processes have drawn; written by drawPermits alone. */
  mail_rate_windows: {
    sender_id: number;
    epoch_second: number;
    drawn: number;
  };
  idempotency_keys: {
    shard_id: Generated<number>;
    partner_id: number;
    event_id: number;
    key: string;
    fingerprint: string;
    /** Of a bulk call: 'bulk'. */
    outcome: string;
    serial: number | null;
    /** Of a bulk call, in its order: what became of each (null: each has a seat), and the serials of who got a seat. */
    outcomes: string[] | null;
    serials: number[] | null;
    created_at: CreatedAt;
  };
  /** Resets of test events have cancelled every registration up to this offset of the journal. */
  test_resets: {
    shard_id: Generated<number>;
    event_id: number;
    partner_id: number;
    journal_offset: number;
  };
  /** What operators did, a row for each thing that changed. Written with the change, and never changed itself. */
  audit_log: AuditedChange & {
    /** The operator. */
    actor: string;
  };
  partner_audit_log: AuditedChange & { partner_id: number };
}
