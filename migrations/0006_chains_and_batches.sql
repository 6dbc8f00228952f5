-- Jobs that wait for outputs of other jobs, and batches of jobs that one request creates.
ALTER TABLE jobs ADD COLUMN waiting_for TEXT;
ALTER TABLE jobs ADD COLUMN batch_id TEXT;
ALTER TABLE jobs ADD COLUMN batch_name TEXT;

CREATE INDEX jobs_of_batch ON jobs (batch_id, id) WHERE batch_id IS NOT NULL;

-- A job and the jobs whose outputs it reads. The rows outlast the ends of both jobs.
CREATE TABLE job_dependencies (
  job_id TEXT NOT NULL,
  needed_job_id TEXT NOT NULL,
  account_id TEXT NOT NULL,
  PRIMARY KEY (job_id, needed_job_id)
);

CREATE INDEX job_dependencies_of_needed ON job_dependencies (needed_job_id);
CREATE INDEX job_dependencies_of_account ON job_dependencies (account_id);

CREATE TRIGGER dependent_jobs_removed AFTER DELETE ON jobs WHEN old.waiting_for IS NOT NULL BEGIN DELETE FROM job_dependencies WHERE job_id = old.id; END;

-- The end of each job lowers open_jobs, and the end of the last one sends the webhook of the batch.
CREATE TABLE batches (
  id TEXT PRIMARY KEY NOT NULL,
  account_id TEXT NOT NULL,
  total_jobs INTEGER NOT NULL,
  open_jobs INTEGER NOT NULL,
  failed_jobs INTEGER DEFAULT 0 NOT NULL,
  metadata TEXT,
  webhook_url TEXT,
  origin TEXT NOT NULL,
  key_id TEXT,
  request_id TEXT,
  retry_of TEXT,
  created_at INTEGER NOT NULL,
  completed_at INTEGER,
  retention_ms INTEGER
);

CREATE INDEX batches_listed ON batches (account_id, id);
CREATE INDEX batches_ended ON batches (completed_at) WHERE completed_at IS NOT NULL;
