-- Null: not disabled. The keys of a disabled partner are refused, and its webhooks get nothing.
alter table partners add column disabled_at timestamptz;
-- Null: not archived. Lists hide archived events.
alter table events add column archived_at timestamptz;
-- The tickets that an operator took off sale together. Null: none.
alter table events add column stopped_tickets integer[];
