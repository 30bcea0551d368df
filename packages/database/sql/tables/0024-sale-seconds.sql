-- The history of an event's sale, by second: the console keeps it for a day. A second without a change
-- has no row.
create table sale_seconds (
  shard_id integer not null,
  event_id integer not null,
  at timestamptz not null,
  -- Seats that were taken since the second before, without those that became free.
  accepted integer not null,
  -- By response code: {"32": 17}.
  refused json not null,
  -- By ticket: the seats that are left, and those that were taken: {"7": [83, 17]}.
  tickets json not null,
  -- Calls of all events that wait to register, and the age of the oldest undelivered entry. Null: not known.
  waiting integer,
  undelivered_ms integer,
  primary key (shard_id, event_id, at)
);
