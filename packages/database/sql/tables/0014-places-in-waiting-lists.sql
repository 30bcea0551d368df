-- How many entries of a partner wait for a ticket, and for how many seats together. Partners without waiting entries have no row.
-- Writers have locked the ticket. So neither the share of a partner nor its limit needs a count of its entries.
create table waiting_partners (
  shard_id integer not null,
  ticket_id integer not null,
  partner_id integer not null,
  entries integer not null,
  seats integer not null,
  primary key (shard_id, ticket_id, partner_id)
) with (fillfactor = 50);

insert into waiting_partners (shard_id, ticket_id, partner_id, entries, seats)
select shard_id, ticket_id, partner_id, count(*), sum(seats) from waiting_entries
where state = 'waiting' group by shard_id, ticket_id, partner_id;

-- Later entries that got an offer first, at most 1,000. Stored when an entry stops to wait.
alter table waiting_entries add column skipped smallint not null default 0;

-- The entries of a partner are read by themselves, so that those of a partner at its share are never read.
create index waiting_entries_of_partner on waiting_entries (shard_id, ticket_id, partner_id, seats, serial)
  where state = 'waiting';
-- The first entries of a list, for the places. The condition on the seats is always true. It keeps the planner from this index where it
-- looks for the entries of one partner: without statistics, it would read the whole list for each of them.
create index waiting_entries_first on waiting_entries (shard_id, ticket_id, serial) where state = 'waiting' and seats > 0;
drop index waiting_entries_in_line;
