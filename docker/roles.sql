-- Creates login roles for the API, the worker, the delivery process and the console, with the passwords of
-- the environment. Runs at every start, so that a new password takes effect. `floodgate grant` gives the
-- roles their privileges.
\getenv api_password API_PASSWORD
\getenv worker_password WORKER_PASSWORD
\getenv delivery_password DELIVERY_PASSWORD
\getenv console_password CONSOLE_PASSWORD
set log_statement = none;
set log_min_error_statement = panic;
select format('create role %I login', name)
from unnest(array['floodgate_api', 'floodgate_worker', 'floodgate_delivery', 'floodgate_console']) as name
where not exists (select from pg_roles where rolname = name) \gexec
alter role floodgate_api password :'api_password';
alter role floodgate_worker password :'worker_password';
alter role floodgate_delivery password :'delivery_password';
alter role floodgate_console password :'console_password';
