-- The pages of the console show the changes of one thing or of one person. Partners' entries have an index by actor.
create index audit_log_subject on audit_log (subject, id);
create index partner_audit_log_subject on partner_audit_log (subject, id);
create index audit_log_actor on audit_log (actor, id);
