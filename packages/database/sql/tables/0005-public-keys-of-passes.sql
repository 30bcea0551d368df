-- The public key, in SPKI. Postgres makes the private key and cannot compute the public one, so the first process that signs
-- with the key stores it. Null: none has yet. The console checks passes with it, and may not read private keys.
alter table pass_keys add column public_key bytea;
