-- Login roles for the API, the worker and the deliveries, with the passwords of the environment. Safe to repeat: run at every start, so
-- that a new password takes effect. What they may do is said by `floodgate grant`.
\getenv api_password API_PASSWORD
\getenv worker_password WORKER_PASSWORD
\getenv delivery_password DELIVERY_PASSWORD
set log_statement = none;
set log_min_error_statement = panic;
select format('create role %I login', name)
from unnest(array['floodgate_api', 'floodgate_worker', 'floodgate_delivery']) as name
where not exists (select from pg_roles where rolname = name) \gexec
alter role floodgate_api password :'api_password';
alter role floodgate_worker password :'worker_password';
alter role floodgate_delivery password :'delivery_password';
