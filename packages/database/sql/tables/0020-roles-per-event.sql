-- An operator has a role for all events, roles for named events, or both. Null: no role for all events.
alter table operators alter column role drop not null;
alter table operators drop constraint operators_role_check;
alter table operators add constraint operators_role_check
  check (role in ('viewer', 'door-manager', 'operator', 'owner'));

-- The roles of operators for named events. The scopes for an event are those of this role and of the role for
-- all events. No foreign key to events: these tables stay on the coordinator of a cluster.
create table operator_event_roles (
  operator_id integer not null references operators,
  event_id integer not null,
  role text not null check (role in ('viewer', 'door-manager', 'operator', 'owner')),
  primary key (operator_id, event_id)
);
create index operator_event_roles_event on operator_event_roles (event_id);

-- The events of a limited token, and its scopes for them. Null: a session, or a token for all events. The
-- column `scopes` of a limited token is empty, so the previous release, which does not know about events,
-- lets it do nothing.
alter table operator_access add column event_ids integer[];
alter table operator_access add column event_scopes text[];

-- The event of a change. Null: none, or several. Operators who are limited to events see only the changes of
-- these.
alter table audit_log add column event_id integer;
alter table partner_audit_log add column event_id integer;
create index audit_log_event on audit_log (event_id, id) where event_id is not null;
create index partner_audit_log_event on partner_audit_log (event_id, id) where event_id is not null;
