-- Work on many things of one event, which an operator has started. packages/jobs has a picture of the states.
create table jobs (
  shard_id integer not null,
  id uuid not null,
  kind text not null,
  event_id integer not null,
  -- The selection, and how it is treated. No attendee data: the fields of a filter about a person are left out.
  filter json not null,
  settings json not null,
  -- Identifies the kind and the whole filter.
  digest text not null,
  state text not null default 'running' check (state in ('running', 'paused', 'done', 'aborted')),
  -- Items: all, those that are done, and those that could not be done.
  total integer not null,
  done integer not null default 0,
  failed integer not null default 0,
  -- The cursor: the part that is worked on, and how many of its items were treated.
  part integer not null default 1,
  position integer not null default 0,
  -- Items that met the filter and came after the preview.
  came_since integer not null default 0,
  -- The report of the kind, such as the seats per partner and ticket.
  result json,
  -- Why the last batch failed. Null: it did not.
  problem text,
  created_by text not null,
  created_at timestamptz not null default now(),
  started_at timestamptz,
  ended_at timestamptz,
  next_at timestamptz not null default now(),
  lease uuid,
  leased_until timestamptz,
  primary key (shard_id, id)
) with (fillfactor = 50);
-- The same work is started once.
create unique index jobs_open on jobs (shard_id, event_id, kind, digest) where ended_at is null;
create index jobs_due on jobs (shard_id, next_at) where state = 'running';

-- The items of a job that has not ended, in parts: what was previewed, and nothing that came later.
create table job_parts (
  shard_id integer not null,
  job_id uuid not null,
  part integer not null,
  items text[] not null,
  primary key (shard_id, job_id, part)
);

-- Items that could not be done, with the reason.
create table job_failures (
  shard_id integer not null,
  job_id uuid not null,
  item text not null,
  reason text not null,
  at timestamptz not null default now(),
  primary key (shard_id, job_id, item)
);

-- When the operator called the event off. Null: it takes place.
alter table events add column called_off_at timestamptz;
