-- The words by which operators find registrations and entries of waiting lists: see words_of_entry. index_attendees fills it after
-- the sale. It replaces the table "attendees", which only the previous release reads. Nothing fills that one any more.
create table search_entries (
  shard_id integer not null,
  serial bigint not null,
  words tsvector not null,
  primary key (shard_id, serial)
);
-- add_entries empties the list of pending entries, because each search reads it once per bucket.
create index search_entries_words on search_entries using gin (words) with (gin_pending_list_limit = 1024);

-- Earlier sales are added from the newest to the oldest. The next serials to add are below this one. 0: all
-- are there.
alter table attendee_scans add column refill_below bigint not null default 0;
update attendee_scans set refill_below = 9223372036854775807;
