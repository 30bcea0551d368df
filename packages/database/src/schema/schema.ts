import type { ColumnType, Generated, GeneratedAlways } from 'kysely';

// The tables, with the columns that queries in TypeScript use. Columns that only SQL text uses are only in
// sql/tables. int8 and numeric values are parsed as numbers (connect.ts).

type CreatedAt = ColumnType<Date, Date | undefined, never>;
export type BatchState = 'pending' | 'confirmed' | 'failed';
/**
 * The kinds of journal entries: about a registration, an admission, a ticket, or an entry of a waiting list.
 */
export type JournalKind =
  | ('confirmed' | 'cancelled' | 'failed')
  | ('admitted' | 'admitted_again')
  | ('sold_out' | 'reopened')
  | `waiting.${'joined' | 'offered' | 'expired' | 'confirmed'}`;
/** A reader of the journal: the sender of e-mails to attendees, or a partner's webhook. */
export type ConsumerKind = 'mail' | 'webhook';
/** packages/journal has a picture of the states of a consumer. */
export type ConsumerState = 'active' | 'paused' | 'disabled';
/** packages/deliveries has a picture of these states. */
export type DeliveryState =
  'queued' | 'sending' | 'sent' | 'retry' | 'undeliverable' | 'suppressed' | 'cancelled';
/** packages/jobs has a picture of these states. */
export type JobState = 'running' | 'paused' | 'done' | 'aborted';
/**
 * The answer to an attendee who is registered already: another seat, a refusal, or the first pass reference.
 */
export type DuplicatePolicy = 'allow' | 'reject' | 'return_existing';
/** Whether an attendee can register once per event or once per ticket, unless duplicates are allowed. */
export type DuplicateScope = 'event' | 'ticket';

/** Languages of e-mails to attendees. */
export type Language = 'en' | 'de';
/** The mode of a key and of an event. Test events never send anything to attendees. */
export type Mode = 'live' | 'test';

interface OfShard {
  shard_id: number;
}

interface OfEvent extends OfShard {
  id: Generated<number>;
  event_id: number;
}

interface OfPartner extends OfShard {
  event_id: number;
  /** 0: all partners. */
  partner_id: number;
}

export interface Schema {
  partners: {
    id: GeneratedAlways<number>;
    name: string;
    /** Null: no limit. */
    requests_per_second: number | null;
    /** Its share if partners compete for seats, relative to other partners. */
    weight: Generated<number>;
    created_at: CreatedAt;
    /** Receives notices about its webhooks. */
    contact_email: string | null;
    disabled_at: Date | null;
  };
  secret_keys: {
    /** Not secret: an index finds the key by it, and then the secret is compared. */
    key_id: string;
    partner_id: number;
    /** SHA-256 of the secret. It has 256 random bits, so a slower hash would not be safer. */
    secret_hash: Buffer;
    /** The text of the key contains it, too. */
    mode: Generated<Mode>;
    created_at: CreatedAt;
    expires_at: Date | null;
    revoked_at: Date | null;
  };
  /** The hour of each key's last use. */
  secret_key_uses: { key_id: string };
  /** Each event is in one shard, with all its data. */
  shards: { id: number };
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
    /** Deadline for cancellations by partners. Null: none. */
    cancel_until: Date | null;
    created_at: CreatedAt;
    starts_at: Date | null;
    ends_at: Date | null;
    venue: string | null;
    /** A name of the IANA time zone database. */
    time_zone: string | null;
    language: Generated<Language>;
    /** Address for attendees' replies. */
    reply_to: string | null;
    /** Rises with every change of the event. */
    revision: Generated<number>;
    archived_at: Date | null;
    /** The tickets that an operator took off sale together. */
    stopped_tickets: number[] | null;
    /** ISO 4217. Null: none. */
    currency: string | null;
    called_off_at: Date | null;
    /** Whether attendees get an e-mail if an operator cancels. */
    mail_operator_cancels: Generated<boolean>;
    /** Whether attendees get an e-mail if their partner cancels. */
    mail_partner_cancels: Generated<boolean>;
  };
  /** The content of e-mails about an event in each of its revisions. */
  event_revisions: OfShard & {
    event_id: number;
    revision: number;
    name: string;
    starts_at: Date | null;
    ends_at: Date | null;
    venue: string | null;
    time_zone: string | null;
  };
  event_grants: Record<'partner_id' | 'event_id', number>;
  /** The keys that sign passes. */
  pass_keys: {
    id: number;
    /** Ed25519, in PKCS #8. */
    private_key: Generated<Buffer>;
    /** In SPKI. Null: the key has not signed yet. */
    public_key: Buffer | null;
    created_at: CreatedAt;
    /** When it stopped signing. */
    retired_at: Date | null;
    /** When its passes became invalid. */
    withdrawn_at: Date | null;
  };
  tickets: OfEvent & {
    title: string;
    price: Generated<number>;
    benefits: Generated<string>;
    active: Generated<boolean>;
    capacity: number;
    taken: Generated<number>;
    /** Whether it has allocations. */
    allocated: Generated<boolean>;
    sale_starts_at: Date | null;
    sale_ends_at: Date | null;
    /** How long an offer of its waiting list lasts. Null: it has none. */
    offer_hours: number | null;
    waiting_closes_at: Date | null;
    /** Number of waiting entries. Meanwhile it is sold out for everybody else. */
    waiting: Generated<number>;
    created_at: CreatedAt;
    last_modified_at: Generated<Date>;
    last_modified_by: string;
  };
  /** The prices of tickets, each valid until the next one. */
  ticket_prices: OfShard & {
    ticket_id: number;
    /** The first one: -infinity. */
    valid_from: Date | number;
    price: number;
  };
  allocations: OfShard & {
    ticket_id: number;
    partner_id: number;
    /** Seats that only this partner may sell. */
    reserved: number;
    /** How many seats it may sell. Null: there is no limit. */
    cap: number | null;
    /** When others may sell what is reserved. Null: never. */
    releases_at: Date | null;
    /** Its seats that are not cancelled. */
    taken: number;
  };
  registrations: OfPartner & {
    serial: number;
    cancelled_at: Date | null;
    hold_id: string | null;
    partner_reference: string | null;
  };
  gates: OfEvent & {
    name: string;
    area: string;
    tickets: number[] | null;
    opens_at: Date | null;
    closes_at: Date | null;
    entry_rule: 'once' | 're-entry' | 'any';
    shows_names: boolean;
  };
  /** Scanners at the gates. */
  devices: OfEvent & {
    name: string;
    gates: number[];
    code_hash: Buffer | null;
    code_expires_at: Date;
    public_key: Generated<Buffer | null>;
    token_hash: Generated<Buffer | null>;
    version: Generated<string | null>;
    last_contact_at: Generated<Date | null>;
    skew_ms: Generated<number>;
    last_counter: Generated<number>;
    received: Generated<number>;
    signed_off_at: Generated<Date | null>;
    revoked_at: Generated<Date | null>;
    lost: Generated<boolean>;
    forked_counter: Generated<number | null>;
  };
  /** Changes that are committed and not published yet. */
  changes: OfShard & { kind: string; ticket_id: number | null };
  idempotency_keys: OfPartner & { key: string };
  /** The last offset in the journal of each shard. */
  journal_heads: OfShard & { last_offset: number };
  /** Readers of the journal of an event, each with its progress. */
  journal_consumers: OfPartner & {
    id: string;
    kind: ConsumerKind;
    /** All entries up to this offset are delivered. */
    last_offset: Generated<number>;
    /** Last offset of the range in flight. Null: there is none. */
    in_flight_until: number | null;
    /** Last entry for this consumer that a scan has found. Null: not scanned yet. */
    news_offset: number | null;
    /** Paused: by a partner or an operator, who can resume it. Disabled: by the service. */
    state: Generated<ConsumerState>;
    /** Consecutive failed attempts. */
    failures: Generated<number>;
    failing_since: Date | null;
    /** Next time at which it can be leased. */
    next_at: Generated<Date>;
    lease: string | null;
    leased_until: Date | null;
  };
  /** A partner's webhook. The id is the id of its journal consumer. */
  webhook_endpoints: OfPartner & {
    id: string;
    url: string;
    description: string;
    types: string[];
    include: Generated<string[]>;
    /** Limit of the entries in one message. */
    entry_limit: number;
    /** Cursor of the last message that was delivered. */
    chain_offset: number;
    /** Number of requested replays. */
    replays: Generated<number>;
    /** Why the service disabled it, or null. */
    disabled_reason: string | null;
    /** Null: it is not paused. */
    paused_by: 'partner' | 'operator' | null;
    /** Id of a requested test message that is not sent yet. Null: none. */
    test_message: string | null;
    /** The last message, if it was not accepted. */
    refused_message: unknown;
    created_at: CreatedAt;
  };
  /** The keys that sign its messages. The service needs them in plain text. */
  webhook_secrets: OfShard & {
    endpoint_id: string;
    id: string;
    /** The key of HMAC. */
    secret: Buffer;
    /** Keys of Ed25519, 32 bytes each. */
    private_key: Buffer;
    public_key: Buffer;
    created_at: CreatedAt;
    /** Null: the current secret. */
    ends_at: Date | null;
  };
  /** One row per message to one recipient. */
  deliveries: OfShard & {
    event_id: number;
    kind: string;
    /** The serial of a registration, or the id of a webhook. */
    subject: string;
    state: DeliveryState;
    /** Codes of the SMTP server, or one of our own. Never the server's text: it contains addresses. */
    reason: string | null;
    possibly_twice: Generated<boolean>;
    created_at: CreatedAt;
    /** When the last message was sent, of any revision. */
    sent_at: Date | null;
    /** When the first failed attempt was recorded. Null: none has failed. */
    failing_since: Generated<Date | null>;
  };
  /** Work of an operator on many things of one event. */
  jobs: OfShard & {
    id: string;
    kind: string;
    event_id: number;
    filter: unknown;
    settings: unknown;
    digest: string;
    state: Generated<JobState>;
    total: number;
    done: Generated<number>;
    failed: Generated<number>;
    /** Items that met the filter and came after the preview. */
    came_since: Generated<number>;
    result: unknown;
    problem: string | null;
    created_by: string;
    created_at: CreatedAt;
    started_at: Date | null;
    ended_at: Date | null;
    next_at: Generated<Date>;
    lease: string | null;
    leased_until: Date | null;
  };
  job_failures: OfShard & { job_id: string; item: string; reason: string; at: CreatedAt };
  /** The seconds of the sale of an event in which something changed. */
  sale_seconds: OfShard & {
    event_id: number;
    at: Date;
    accepted: number;
    refused: unknown;
    tickets: unknown;
    waiting: number | null;
    undelivered_ms: number | null;
  };
  /** Addresses that get no more e-mails. */
  mail_suppressions: {
    /** SHA-256 of the address. */
    digest: string;
    reason: string;
    /** The event of the refused e-mail. */
    event_id: number;
    at: CreatedAt;
  };
}
