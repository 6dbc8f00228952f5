-- Pairs of the metadata of jobs, by which lists find them. Rows of jobs keep their metadata packed, which
-- no index reads, so a create writes its pairs here. Older jobs are not found by them.
CREATE TABLE job_metadata (
  job_id TEXT NOT NULL,
  account_id TEXT NOT NULL,
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (job_id, name)
);

CREATE INDEX job_metadata_listed ON job_metadata (account_id, name, value, job_id);

CREATE TRIGGER jobs_removed AFTER DELETE ON jobs WHEN old.metadata IS NOT NULL BEGIN DELETE FROM job_metadata WHERE job_id = old.id; END;

-- Lists of Files of one name.
CREATE INDEX files_listed_by_name ON files (account_id, name, state, id) WHERE source NOT IN ('fetch', 'transcript') AND (object_key IS NOT NULL OR source = 'import');
