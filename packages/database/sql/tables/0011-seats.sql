-- A seat lets in one person, also after its attendee was changed. It has the serial of its first registration. On admissions and scans, the seat is
-- stored with the registration whose pass was scanned.
alter table admissions add column seat bigint;
update admissions set seat = registration;
alter table admissions alter column seat set not null;
drop index no_pass_is_admitted_twice;
create unique index no_seat_is_admitted_twice on admissions (seat, area, shard_id) where is_open;
drop index admissions_registration;
create index admissions_seat on admissions (seat, shard_id);
alter table scans add column seat bigint;
update scans set seat = serial where serial is not null;
drop index scans_out;
create index scans_out on scans (seat, shard_id) where direction = 'out';
-- Null: this registration is the first one of its seat. Last, because registrations wait for the end of this transaction. Seats whose
-- attendee was changed before count as two seats: to find them would read the whole table meanwhile.
alter table registrations add column seat bigint;
