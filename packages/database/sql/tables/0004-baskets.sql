-- The seats of a basket are registrations without an attendee until the partner confirms them. They share a hold_id.
alter table registrations alter column full_name drop not null;
alter table registrations alter column email_address drop not null;
alter table registrations add column hold_id uuid;
-- The partner's own reference, such as an order number. Several registrations can have the same.
alter table registrations add column partner_reference varchar(64);

create index registrations_of_hold on registrations (shard_id, hold_id) where hold_id is not null;
create index registrations_of_reference on registrations (shard_id, event_id, partner_id, partner_reference, serial)
  where partner_reference is not null;

-- Additional fields of the entries of a message, such as 'partnerReference'.
alter table webhook_endpoints add column include text[] not null default '{}';

-- The registration that got the seat of this one, for another attendee.
alter table registrations add column replaced_by bigint;
