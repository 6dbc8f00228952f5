-- Endpoints of an account, which get events of its jobs beside the webhooks that requests name.
CREATE TABLE webhook_endpoints (
  id TEXT PRIMARY KEY NOT NULL,
  account_id TEXT NOT NULL,
  url TEXT NOT NULL,
  events TEXT NOT NULL,
  description TEXT NOT NULL,
  enabled INTEGER NOT NULL,
  gone_at INTEGER,
  secret TEXT NOT NULL,
  secret_before TEXT,
  secret_rotated_at INTEGER,
  version INTEGER NOT NULL,
  created_at INTEGER NOT NULL
);

CREATE INDEX webhook_endpoints_of_account ON webhook_endpoints (account_id, id);

-- The end of a job has one delivery for the URL of its request, and one for each endpoint.
ALTER TABLE deliveries ADD COLUMN endpoint_id TEXT DEFAULT '' NOT NULL;
DROP INDEX deliveries_of_job;
CREATE UNIQUE INDEX deliveries_of_job ON deliveries (job_id, endpoint_id);
