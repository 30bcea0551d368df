-- The currency of an event (ISO 4217). Null: none.
alter table events add column currency text;

-- The prices of a ticket, each valid from a moment by the clock of the shard's server until the next one. The
-- price of a registration is the one that was valid at the reserved_at of its seat
-- (packages/registrations/src/price). So a sale stores no price. Writers have locked the ticket. The first price
-- is valid from -infinity: whatever a clock says, no sale is earlier.
create table ticket_prices (
  shard_id integer not null,
  ticket_id integer not null,
  valid_from timestamptz not null,
  price ticket_price not null,
  primary key (shard_id, ticket_id, valid_from)
);

insert into ticket_prices (shard_id, ticket_id, valid_from, price)
select shard_id, id, '-infinity', price from tickets;
