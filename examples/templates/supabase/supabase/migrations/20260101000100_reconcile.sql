CREATE EXTENSION IF NOT EXISTS pg_cron;
CREATE EXTENSION IF NOT EXISTS pg_net;

SELECT cron.schedule('reconcile', '*/5 * * * *', $$
  SELECT net.http_post(
    url := (SELECT decrypted_secret FROM vault.decrypted_secrets WHERE name = 'project_url')
      || '/functions/v1/reconcile',
    headers := jsonb_build_object('Authorization', 'Bearer '
      || (SELECT decrypted_secret FROM vault.decrypted_secrets WHERE name = 'cron_secret')),
    timeout_milliseconds := 60000
  )
$$);
