-- People who operate this installation, and their access to the console and the operator API. No foreign key from another
-- table, so that these tables stay on the coordinator of a cluster.

create table operators (
  id integer generated always as identity primary key,
  -- As in the audit log.
  name text not null unique check (length(name) between 1 and 255),
  role text not null check (role in ('viewer', 'operator', 'owner')),
  -- Address for the sign-in at an identity provider. Null: only with the password.
  email text unique,
  -- scrypt, with its parameters and salt. Null: only at the identity provider.
  password_hash text,
  -- Wrong passwords since the last sign-in. From the fifth, each locks the operator out for a minute.
  failures integer not null default 0,
  locked_until timestamptz,
  disabled_at timestamptz,
  created_at timestamptz not null default now()
);

-- A session of an operator, or the token of a machine.
create table operator_access (
  id text primary key,
  -- SHA-256. The secret has 256 random bits.
  secret_hash bytea not null,
  -- Null: a token. It has a name and scopes of its own. A session has those of its operator now.
  operator_id integer references operators,
  name text,
  scopes text[],
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  revoked_at timestamptz
);
create index operator_access_operator on operator_access (operator_id);

-- Running processes, and what each last reported. Unlogged: a report does not wait for an fsync, and after a crash of Postgres
-- each process reports again.
create unlogged table processes (
  id uuid primary key,
  service text not null,
  version text not null,
  host text not null,
  started_at timestamptz not null default now(),
  seen_at timestamptz not null default now(),
  facts jsonb not null
) with (fillfactor = 50);
