import type { ColumnType, Generated, GeneratedAlways } from 'kysely';

// The tables as TypeScript sees them. int8 and numeric arrive as numbers (connect.ts).

type CreatedAt = ColumnType<Date, Date | undefined, never>;
export type BatchState = 'pending' | 'confirmed' | 'failed' | 'void';
/** What an entry of the journal tells. The last two are about a ticket, the others about a registration. */
export type JournalKind = 'confirmed' | 'cancelled' | 'failed' | 'sold_out' | 'reopened';
/** Who reads the journal: what sends e-mails to attendees, or a partner's webhook. */
export type ConsumerKind = 'mail' | 'webhook';
/** Skipped: there was nothing to send, as with who has cancelled meanwhile. */
export type MailState = 'sent' | 'undeliverable' | 'retry' | 'skipped';
/** Skipped: nobody needs to be told any more, or nobody could be. */
export type NoticeState = 'waiting' | 'sent' | 'undeliverable' | 'skipped';
/** Paused: until somebody says otherwise. Disabled: by the service, which has given it up. */
export type ConsumerState = 'active' | 'paused' | 'disabled';
/** What becomes of an attendee that is registered already: a second seat, a refusal, or the first pass reference once more. */
export type DuplicatePolicy = 'allow' | 'reject' | 'return_existing';
/** For what an attendee registers once, where not as often as they like. */
export type DuplicateScope = 'event' | 'ticket';

/** What a key opens, and what an event is: the real thing, or one for trying things out. Nobody outside ever hears of the latter. */
export type Mode = 'live' | 'test';

export interface TicketsTable {
  shard_id: Generated<number>;
  id: GeneratedAlways<number>;
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

export interface Schema {
  partners: {
    id: GeneratedAlways<number>;
    name: string;
    /** Null: no limit. */
    requests_per_second: number | null;
    /** Its share where partners compete, relative to others'. */
    weight: Generated<number>;
    created_at: CreatedAt;
    /** Who is told when something of its own needs care. */
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
    /** To the hour. Written by the release before alone; now it is secret_key_uses. */
    last_used_at: Date | null;
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
  };
  registrations: {
    shard_id: Generated<number>;
    serial: GeneratedAlways<number>;
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
  /** Who reads the journal of an event, and how far each has come. */
  journal_consumers: {
    shard_id: number;
    id: string;
    kind: ConsumerKind;
    event_id: number;
    /** 0: of all partners. */
    partner_id: number;
    /** Everything up to here was delivered. */
    last_offset: Generated<number>;
    /** Where what is under way ends. Null: nothing is. */
    until: number | null;
    state: Generated<ConsumerState>;
    /** Attempts in vain since the last that was not. */
    failures: Generated<number>;
    failing_since: Date | null;
    /** When it may be read for again. */
    next_at: Generated<Date>;
    lease: string | null;
    leased_until: Date | null;
    created_at: CreatedAt;
  };
  /** Where a partner is told of what became of its registrations. The id is that of its consumer. */
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
    /** How often everything was asked for once more. */
    replays: Generated<number>;
    /** Why the service has given it up, where it has. */
    disabled_reason: string | null;
    /** Null: it is not paused, or was before this column was added. */
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
  /** What a partner is told of a webhook that was given up: the newest of each. The id is that of the endpoint. */
  webhook_notices: {
    shard_id: number;
    id: string;
    /** Of this notice, however often it is sent. */
    message_id: string;
    /** Null: it had not failed before. */
    failing_since: Date | null;
    given_up_at: Generated<Date>;
    state: Generated<NoticeState>;
    /** Codes of the SMTP server, or a word of ours. */
    reason: string | null;
    /** Those that were refused for now, and the last. */
    attempts: Generated<number>;
    /** When somebody may take it. */
    next_at: Generated<Date>;
    /** When the last e-mail about this endpoint was sent, whichever notice that was. */
    sent_at: Date | null;
  };
  /** What became of the e-mail about a registration. */
  mail_deliveries: {
    shard_id: number;
    event_id: number;
    serial: number;
    state: MailState;
    /** Codes of the SMTP server, or a word of ours. Never its text: that quotes addresses. */
    reason: string | null;
    attempts: number;
    /** It may have been sent twice: nobody knows how an earlier attempt ended. */
    doubtful: boolean;
    /** When it is tried again. */
    next_at: Date | null;
    /** When the registration was confirmed. */
    since: Date;
    at: CreatedAt;
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
  /** What operators did, a row for each thing that changed. Written with the change, and never changed itself. */
  audit_log: {
    id: GeneratedAlways<number>;
    at: CreatedAt;
    /** Who did it. */
    actor: string;
    action: string;
    /** The kind and the id of what changed, as in "ticket:7". */
    subject: string;
    /** Null: it was not there. */
    before: AuditedState | null;
    after: AuditedState | null;
  };
}
