-- Which cancellations attendees get an e-mail about: those of an operator, and those of their partner.
alter table events add column mail_operator_cancels boolean not null default true;
alter table events add column mail_partner_cancels boolean not null default false;

-- The content of e-mails about an event in each of its revisions. An e-mail about a new time also says the old one.
create table event_revisions (
  shard_id integer not null,
  event_id integer not null,
  revision integer not null,
  name text not null,
  starts_at timestamptz,
  ends_at timestamptz,
  venue text,
  time_zone text,
  primary key (shard_id, event_id, revision)
);

-- The revision that the recipient of an 'event-updated' got before. Null: not known.
alter table deliveries add column told_revision integer;
-- For the list of those who did not get an e-mail. An e-mail that is sent at its first attempt has no entry in it.
create index deliveries_failed on deliveries (shard_id, event_id, kind, subject)
  where state in ('undeliverable', 'suppressed', 'retry') or state = 'queued' and reason is not null;

-- Whether an operator cancelled these registrations, or their partner. Null: neither did (the hold expired, another attendee got the seat),
-- it is not known, or it is no cancellation. Last, because registrations wait for the end of this transaction.
alter table journal_segments add column by_operator boolean;
alter table changes add column by_operator boolean;
