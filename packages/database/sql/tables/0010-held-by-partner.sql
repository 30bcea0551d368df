-- Nothing reads it since held_seats counts what a partner holds.
drop index registrations_held_by_partner;
