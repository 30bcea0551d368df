-- How many seats of a ticket a partner holds: the sum of its rows. Each change inserts a row, so that nobody waits for another.
-- reserve_batch, which has locked the ticket, replaces them by one.
create table held_seats (
  shard_id integer not null,
  ticket_id integer not null,
  partner_id integer not null,
  id uuid not null default gen_random_uuid(),
  seats integer not null,
  primary key (shard_id, ticket_id, partner_id, id)
);

insert into held_seats (shard_id, ticket_id, partner_id, seats)
select shard_id, ticket_id, partner_id, count(*) from registrations
where held_until < 'infinity' and cancelled_at is null
group by shard_id, ticket_id, partner_id;
