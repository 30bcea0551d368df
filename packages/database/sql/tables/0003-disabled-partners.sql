-- Null: not disabled. The keys of a disabled partner are refused, and its webhooks get nothing.
alter table partners add column disabled_at timestamptz;
