-- Stand-ins for pg_cron, pg_net and the vault, with the names that their documentation promises.
-- A job keeps its command, and a request keeps its address: the test runs the one and sends the
-- other.
CREATE SCHEMA cron;
CREATE TABLE cron.job (jobname text PRIMARY KEY, schedule text NOT NULL, command text NOT NULL);
CREATE FUNCTION cron.schedule(job_name text, schedule text, command text) RETURNS void
  LANGUAGE sql AS 'INSERT INTO cron.job VALUES ($1, $2, $3)';

CREATE SCHEMA net;
CREATE TABLE net.requests (url text NOT NULL, headers jsonb NOT NULL);
CREATE FUNCTION net.http_post(
  url text,
  body jsonb DEFAULT '{}',
  params jsonb DEFAULT '{}',
  headers jsonb DEFAULT '{"Content-Type": "application/json"}',
  timeout_milliseconds integer DEFAULT 5000
) RETURNS void LANGUAGE sql AS 'INSERT INTO net.requests VALUES ($1, $4)';

CREATE SCHEMA vault;
CREATE TABLE vault.decrypted_secrets (name text PRIMARY KEY, decrypted_secret text NOT NULL);
CREATE FUNCTION vault.create_secret(new_secret text, new_name text) RETURNS void
  LANGUAGE sql AS 'INSERT INTO vault.decrypted_secrets VALUES ($2, $1)';
