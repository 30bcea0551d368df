-- When the first failed attempt of an e-mail was recorded. Null: none has failed.
alter table deliveries add column failing_since timestamptz;

-- The webhook message that was sent last and not accepted: its id, its body and what it covers. It is sent again as it was, although what
-- it names may have another name by now. Null: the last message was accepted.
alter table webhook_endpoints add column refused_message json;
