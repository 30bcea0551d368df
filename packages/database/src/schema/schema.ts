import type { ColumnType, Generated, GeneratedAlways } from 'kysely';

// The tables as queries in TypeScript see them: with the columns that such a query names. Columns that only SQL text uses stand in
// sql/tables alone. int8 and numeric arrive as numbers (connect.ts).

type CreatedAt = ColumnType<Date, Date | undefined, never>;
export type BatchState = 'pending' | 'confirmed' | 'failed';
/** The kinds of journal entries. The last two are about a ticket, the others about a registration. */
export type JournalKind = 'confirmed' | 'cancelled' | 'failed' | 'sold_out' | 'reopened';
/** A reader of the journal: the sender of e-mails to attendees, or a partner's webhook. */
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

/** Languages that attendees are written to in. */
export type Language = 'en' | 'de';
/** The mode of a key and of an event. Test events never send anything to attendees. */
export type Mode = 'live' | 'test';

/** The values that the audit log keeps of a thing: neither secrets nor their hashes, and no attendee data. */
export type AuditedState = Record<string, unknown>;

interface OfShard {
  shard_id: number;
}

interface OfPartner extends OfShard {
  event_id: number;
  /** 0: of all partners. */
  partner_id: number;
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
  secret_key_uses: { key_id: string };
  /** Where events live, each with everything about it. */
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
    /** Until when partners may cancel registrations. Null: at any time. */
    cancel_until: Date | null;
    created_at: CreatedAt;
    starts_at: Date | null;
    ends_at: Date | null;
    venue: string | null;
    /** Of the IANA's database. */
    time_zone: string | null;
    language: Generated<Language>;
    /** Where attendees' answers go. */
    reply_to: string | null;
    /** Rises with every change of the event. */
    revision: Generated<number>;
  };
  event_grants: Record<'partner_id' | 'event_id', number>;
  /** The keys that sign passes. */
  pass_keys: {
    id: number;
    /** Ed25519, in PKCS #8. */
    private_key: Generated<Buffer>;
    created_at: CreatedAt;
    /** Since when it signs no more. */
    retired_at: Date | null;
    /** Since when what it signed is not valid any more. */
    withdrawn_at: Date | null;
  };
  tickets: OfShard & {
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
    last_modified_at: Generated<Date>;
    last_modified_by: string;
  };
  registrations: OfPartner & { serial: number; cancelled_at: Date | null };
  /** Changes that are committed and not published yet. */
  changes: OfShard & { kind: string; ticket_id: number | null };
  idempotency_keys: OfPartner & { key: string; created_at: CreatedAt };
  /** Resets of test events have cancelled every registration up to this offset of the journal. */
  test_resets: OfPartner & { journal_offset: number };
  /** How far a shard's journal is written. */
  journal_heads: OfShard & { last_offset: number };
  /** Readers of the journal of an event, each with its progress. */
  journal_consumers: OfPartner & {
    id: string;
    kind: ConsumerKind;
    /** Everything up to here was delivered. */
    last_offset: Generated<number>;
    /** Last offset of the range in flight. Null: there is none. */
    in_flight_until: number | null;
    /** Last entry for it that a scan has found. Null: nobody has looked yet. */
    news_offset: number | null;
    state: Generated<ConsumerState>;
    /** Consecutive failed attempts. */
    failures: Generated<number>;
    failing_since: Date | null;
    /** When it may be leased again. */
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
  /** The keys that sign its messages. The service needs them in plain text. */
  webhook_secrets: OfShard & {
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
  /** Everything that is sent to one recipient. */
  deliveries: OfShard & {
    event_id: number;
    kind: string;
    /** The serial of a registration, or the id of a webhook. */
    subject: string;
    state: DeliveryState;
    /** Codes of the SMTP server, or one of our own. Never the server's text: it contains addresses. */
    reason: string | null;
    created_at: CreatedAt;
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
}
