-- The tables of a database. All moments are milliseconds since 1970, UTC. src/db/schema describes
-- each column, and says which texts hold JSON, packed values or bytes.
--
-- Each trigger is one line, for a reason that docs/develop/migrations.md tells.
--
-- The first database is the directory, which has all accounts, plans, keys and users. Another database
-- has copies of all plans and of those accounts whose jobs and files it holds.

-- Accounts own all that the service stores for its callers.
CREATE TABLE accounts (
  id TEXT PRIMARY KEY NOT NULL,
  name TEXT NOT NULL,
  plan TEXT NOT NULL,
  webhook_secret TEXT NOT NULL,
  webhook_secret_before TEXT,
  webhook_secret_rotated_at INTEGER,
  created_at INTEGER NOT NULL,
  suspended_at INTEGER,
  deleted_at INTEGER,
  purge_at INTEGER,
  database INTEGER DEFAULT 1 NOT NULL,
  version INTEGER DEFAULT 1 NOT NULL,
  copied_version INTEGER DEFAULT 0 NOT NULL
);

CREATE UNIQUE INDEX accounts_name_unique ON accounts (name);
CREATE INDEX accounts_of_plan ON accounts (plan, id);
CREATE INDEX accounts_to_purge ON accounts (purge_at) WHERE purge_at IS NOT NULL;
CREATE INDEX accounts_to_copy ON accounts (id) WHERE database <> 1 AND version <> copied_version;

-- A change of a copied column raises the version of its account, whatever statement changes it.
CREATE TRIGGER accounts_changed AFTER UPDATE OF name, plan, webhook_secret, webhook_secret_before, webhook_secret_rotated_at, suspended_at, deleted_at ON accounts WHEN new.version = old.version AND (new.name IS NOT old.name OR new.plan IS NOT old.plan OR new.webhook_secret IS NOT old.webhook_secret OR new.webhook_secret_before IS NOT old.webhook_secret_before OR new.webhook_secret_rotated_at IS NOT old.webhook_secret_rotated_at OR new.suspended_at IS NOT old.suspended_at OR new.deleted_at IS NOT old.deleted_at) BEGIN UPDATE accounts SET version = version + 1 WHERE id = new.id; END;

-- Plans that the operator made, beside the built-in ones of src/domain/plans.ts.
CREATE TABLE plans (
  name TEXT PRIMARY KEY NOT NULL,
  limits TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
);

-- API keys of accounts. Only the hash of a key is stored.
CREATE TABLE keys (
  id TEXT PRIMARY KEY NOT NULL,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  name TEXT DEFAULT '' NOT NULL,
  hash TEXT NOT NULL,
  prefix TEXT NOT NULL,
  scopes TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  last_used_at INTEGER,
  replaced_by TEXT,
  revoked_at INTEGER
);

CREATE UNIQUE INDEX keys_hash ON keys (hash);
CREATE INDEX keys_of_account ON keys (account_id, id);

-- People who sign in, each with an account. better-auth reads and writes this table and the next three.
CREATE TABLE users (
  id TEXT PRIMARY KEY NOT NULL,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  name TEXT NOT NULL,
  email TEXT NOT NULL,
  email_verified INTEGER NOT NULL,
  image TEXT,
  is_operator INTEGER DEFAULT false NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
);

CREATE UNIQUE INDEX users_account_id_unique ON users (account_id);
CREATE UNIQUE INDEX users_email_unique ON users (email);
CREATE INDEX users_unconfirmed ON users (created_at) WHERE email_verified = 0;

-- Ways in which a user signs in: a password, or an identity at another service.
CREATE TABLE credentials (
  id TEXT PRIMARY KEY NOT NULL,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  provider_id TEXT NOT NULL,
  provider_account_id TEXT NOT NULL,
  access_token TEXT,
  refresh_token TEXT,
  id_token TEXT,
  access_token_expires_at INTEGER,
  refresh_token_expires_at INTEGER,
  scope TEXT,
  password TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
);

CREATE INDEX credentials_of_user ON credentials (user_id);

-- Browsers in which a user is signed in.
CREATE TABLE sessions (
  id TEXT PRIMARY KEY NOT NULL,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  token TEXT NOT NULL,
  expires_at INTEGER NOT NULL,
  ip_address TEXT,
  user_agent TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
);

CREATE UNIQUE INDEX sessions_token_unique ON sessions (token);
CREATE INDEX sessions_of_user ON sessions (user_id);

-- Links of mails that were sent and not followed yet.
CREATE TABLE verifications (
  id TEXT PRIMARY KEY NOT NULL,
  identifier TEXT NOT NULL,
  value TEXT NOT NULL,
  expires_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
);

CREATE INDEX verifications_by_identifier ON verifications (identifier);
CREATE INDEX verifications_by_expiry ON verifications (expires_at);

-- Addresses that may sign up where sign-up is by invitation.
CREATE TABLE invitations (
  id TEXT PRIMARY KEY NOT NULL,
  email TEXT NOT NULL,
  plan TEXT NOT NULL,
  token_hash TEXT NOT NULL,
  expires_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL
);

CREATE UNIQUE INDEX invitations_email_unique ON invitations (email);
CREATE UNIQUE INDEX invitations_token_hash_unique ON invitations (token_hash);

-- Requests about sign-in, counted by the network of the caller.
CREATE TABLE sign_in_tries (
  network TEXT PRIMARY KEY NOT NULL,
  tries TEXT NOT NULL,
  last_try_at INTEGER NOT NULL
);

CREATE INDEX sign_in_tries_by_age ON sign_in_tries (last_try_at);

-- Mails by address, counted for an hour from the first one.
CREATE TABLE mail_counts (
  address TEXT PRIMARY KEY NOT NULL,
  count INTEGER NOT NULL,
  until INTEGER NOT NULL
);

CREATE INDEX mail_counts_by_end ON mail_counts (until);

-- Jobs: one accepted piece of work, with the request and the result.
CREATE TABLE jobs (
  id TEXT PRIMARY KEY NOT NULL,
  account_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  state TEXT NOT NULL,
  version INTEGER NOT NULL,
  priority INTEGER NOT NULL,
  request TEXT NOT NULL,
  request_object_key TEXT,
  result TEXT,
  result_object_key TEXT,
  ended_tasks TEXT,
  warnings TEXT,
  webhook_url TEXT,
  webhook_form TEXT DEFAULT 'native' NOT NULL,
  origin TEXT NOT NULL,
  key_id TEXT,
  request_id TEXT,
  retry_of TEXT,
  metadata TEXT,
  error_code TEXT,
  error_message TEXT,
  error_lines TEXT,
  progress REAL,
  processing_ms INTEGER DEFAULT 0 NOT NULL,
  attempts INTEGER DEFAULT 0 NOT NULL,
  created_at INTEGER NOT NULL,
  accepted_at INTEGER,
  started_at INTEGER,
  completed_at INTEGER,
  media_removed_at INTEGER,
  retention_ms INTEGER
);

CREATE INDEX jobs_listed ON jobs (account_id, state, id) WHERE kind <> 'metadata';
CREATE INDEX jobs_listed_by_kind ON jobs (account_id, kind, state, id);
CREATE INDEX jobs_open ON jobs (account_id, state) WHERE state IN ('waiting', 'running');
CREATE INDEX jobs_finished ON jobs (completed_at) WHERE completed_at IS NOT NULL AND retention_ms IS NULL;
CREATE INDEX jobs_expiring ON jobs (completed_at + retention_ms) WHERE retention_ms IS NOT NULL AND completed_at IS NOT NULL;
CREATE INDEX jobs_unaccepted ON jobs (created_at) WHERE accepted_at IS NULL AND state IN ('waiting', 'running');

-- Jobs by the idempotency key of the request that created each.
CREATE TABLE idempotency (
  account_id TEXT NOT NULL,
  key TEXT NOT NULL,
  body_hash TEXT NOT NULL,
  job_id TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (account_id, key)
);

CREATE INDEX idempotency_by_age ON idempotency (created_at);

-- The last lookup of the metadata of each URL, which answers later requests for a while.
CREATE TABLE metadata_lookups (
  account_id TEXT NOT NULL,
  url_hash TEXT NOT NULL,
  job_id TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (account_id, url_hash)
);

CREATE INDEX metadata_lookups_by_age ON metadata_lookups (created_at);

-- Tasks: the steps of an open job, each done by one runner.
CREATE TABLE tasks (
  id TEXT PRIMARY KEY NOT NULL,
  job_id TEXT NOT NULL,
  account_id TEXT NOT NULL,
  state TEXT NOT NULL,
  fence INTEGER DEFAULT 0 NOT NULL,
  priority INTEGER NOT NULL,
  weight INTEGER DEFAULT 1 NOT NULL,
  pool TEXT NOT NULL,
  work TEXT NOT NULL,
  work_object_key TEXT,
  result TEXT,
  result_object_key TEXT,
  slot TEXT,
  allocation INTEGER,
  failures INTEGER DEFAULT 0 NOT NULL,
  interruptions INTEGER DEFAULT 0 NOT NULL,
  hand_overs INTEGER DEFAULT 0 NOT NULL,
  created_at INTEGER NOT NULL,
  requeued_at INTEGER,
  completed_at INTEGER
);

CREATE INDEX tasks_of_job ON tasks (job_id);
CREATE INDEX tasks_open ON tasks (account_id, state, id) WHERE state IN ('waiting', 'running');

-- Files that a task reads.
CREATE TABLE task_inputs (
  task_id TEXT NOT NULL,
  key TEXT NOT NULL,
  file_id TEXT NOT NULL,
  object_key TEXT,
  awaits_probe INTEGER DEFAULT false NOT NULL,
  PRIMARY KEY (task_id, key)
);

CREATE INDEX task_inputs_of_file ON task_inputs (file_id);

-- Encrypted secrets that the caller gave a task, such as cookies.
CREATE TABLE task_secrets (
  task_id TEXT NOT NULL,
  part INTEGER DEFAULT 0 NOT NULL,
  job_id TEXT NOT NULL,
  account_id TEXT NOT NULL,
  sealed TEXT NOT NULL,
  PRIMARY KEY (task_id, part)
);

CREATE INDEX task_secrets_of_job ON task_secrets (job_id);

-- Files: stored media, and media that a job is to store.
CREATE TABLE files (
  id TEXT PRIMARY KEY NOT NULL,
  account_id TEXT NOT NULL,
  job_id TEXT NOT NULL,
  output_key TEXT,
  name TEXT NOT NULL,
  source TEXT NOT NULL,
  source_url TEXT,
  state TEXT NOT NULL,
  object_key TEXT,
  size_bytes INTEGER,
  content_type TEXT,
  sha256 TEXT,
  probe TEXT,
  probe_object_key TEXT,
  probe_error TEXT,
  bundle TEXT,
  bundle_object_key TEXT,
  error_code TEXT,
  error_message TEXT,
  created_at INTEGER NOT NULL,
  completed_at INTEGER,
  published_at INTEGER
);

CREATE INDEX files_of_job ON files (job_id);
CREATE INDEX files_unlisted ON files (account_id) WHERE source IN ('fetch', 'transcript') OR (object_key IS NULL AND source <> 'import');
CREATE INDEX files_listed ON files (account_id, state, id) WHERE source NOT IN ('fetch', 'transcript') AND (object_key IS NOT NULL OR source = 'import');
CREATE INDEX files_listed_by_source ON files (account_id, source, state, id) WHERE source NOT IN ('fetch', 'transcript') AND (object_key IS NOT NULL OR source = 'import');
CREATE INDEX files_fetched ON files (completed_at) WHERE source = 'fetch' AND object_key IS NOT NULL;

-- Bytes that an account stores. The three triggers on files keep the sum, whatever statement writes a file.
CREATE TABLE account_storage (
  account_id TEXT PRIMARY KEY NOT NULL,
  bytes INTEGER NOT NULL
);

CREATE TRIGGER files_stored AFTER INSERT ON files WHEN new.object_key IS NOT NULL AND new.size_bytes IS NOT NULL BEGIN INSERT INTO account_storage (account_id, bytes) VALUES (new.account_id, new.size_bytes) ON CONFLICT (account_id) DO UPDATE SET bytes = bytes + excluded.bytes; END;

CREATE TRIGGER files_changed AFTER UPDATE OF object_key, size_bytes ON files WHEN iif(new.object_key IS NULL, 0, coalesce(new.size_bytes, 0)) <> iif(old.object_key IS NULL, 0, coalesce(old.size_bytes, 0)) BEGIN INSERT INTO account_storage (account_id, bytes) VALUES (new.account_id, iif(new.object_key IS NULL, 0, coalesce(new.size_bytes, 0)) - iif(old.object_key IS NULL, 0, coalesce(old.size_bytes, 0))) ON CONFLICT (account_id) DO UPDATE SET bytes = bytes + excluded.bytes; END;

CREATE TRIGGER files_removed AFTER DELETE ON files WHEN old.object_key IS NOT NULL AND old.size_bytes IS NOT NULL BEGIN UPDATE account_storage SET bytes = bytes - old.size_bytes WHERE account_id = old.account_id; END;

-- Use of an account by day and key.
CREATE TABLE usage_days (
  account_id TEXT NOT NULL,
  day TEXT NOT NULL,
  key_id TEXT NOT NULL,
  requests INTEGER DEFAULT 0 NOT NULL,
  jobs INTEGER DEFAULT 0 NOT NULL,
  fetches INTEGER DEFAULT 0 NOT NULL,
  succeeded_jobs INTEGER DEFAULT 0 NOT NULL,
  failed_jobs INTEGER DEFAULT 0 NOT NULL,
  processing_ms INTEGER DEFAULT 0 NOT NULL,
  PRIMARY KEY (account_id, day, key_id)
);

CREATE INDEX usage_days_by_day ON usage_days (day);

-- Webhooks: the outbox, with one row for each finished job that has a webhook, and for each test event.
CREATE TABLE deliveries (
  id TEXT PRIMARY KEY NOT NULL,
  account_id TEXT NOT NULL,
  job_id TEXT,
  type TEXT NOT NULL,
  url TEXT NOT NULL,
  body TEXT NOT NULL,
  body_object_key TEXT,
  state TEXT NOT NULL,
  tries INTEGER DEFAULT 0 NOT NULL,
  first_try TEXT,
  next_try_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  completed_at INTEGER
);

CREATE INDEX deliveries_listed ON deliveries (account_id, state, id);
CREATE UNIQUE INDEX deliveries_of_job ON deliveries (job_id);
CREATE INDEX deliveries_ended ON deliveries (completed_at) WHERE completed_at IS NOT NULL;
CREATE INDEX deliveries_due ON deliveries (next_try_at) WHERE state = 'waiting';
CREATE INDEX deliveries_waiting ON deliveries (account_id, url) WHERE state = 'waiting';

-- Tries of a webhook after the first, which is in the row of the webhook itself.
CREATE TABLE delivery_tries (
  delivery_id TEXT NOT NULL,
  number INTEGER NOT NULL,
  started_at INTEGER NOT NULL,
  duration_ms INTEGER NOT NULL,
  status INTEGER,
  error TEXT,
  answer TEXT,
  PRIMARY KEY (delivery_id, number)
);

-- Receivers of webhooks that have failed since the last success.
CREATE TABLE receiver_outages (
  account_id TEXT NOT NULL,
  receiver TEXT NOT NULL,
  failing_since INTEGER NOT NULL,
  failed_at INTEGER NOT NULL,
  tries INTEGER DEFAULT 1 NOT NULL,
  status INTEGER,
  error TEXT,
  due_at INTEGER,
  alerted_at INTEGER,
  PRIMARY KEY (account_id, receiver)
);

CREATE INDEX receiver_outages_due ON receiver_outages (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX receiver_outages_by_age ON receiver_outages (failed_at);

-- Objects of R2 that are being written, by which the sweep finds abandoned ones.
CREATE TABLE uploads (
  id TEXT PRIMARY KEY NOT NULL,
  account_id TEXT NOT NULL,
  object_key TEXT NOT NULL,
  multipart_id TEXT,
  task_id TEXT,
  validator TEXT,
  created_at INTEGER NOT NULL,
  removal_tried_at INTEGER
);

CREATE INDEX uploads_by_age ON uploads (created_at);
CREATE INDEX uploads_by_removal ON uploads (removal_tried_at) WHERE removal_tried_at IS NOT NULL;
CREATE INDEX uploads_object ON uploads (object_key);

-- Parts of an upload that a later run of its task resumes.
CREATE TABLE upload_parts (
  upload_id TEXT NOT NULL,
  number INTEGER NOT NULL,
  etag TEXT NOT NULL,
  size_bytes INTEGER NOT NULL,
  PRIMARY KEY (upload_id, number)
);

-- Prefixes of R2 without an owner. The sweep deletes the objects below each of them twice, an hour apart.
CREATE TABLE garbage (
  prefix TEXT PRIMARY KEY NOT NULL,
  file_id TEXT,
  due_at INTEGER NOT NULL,
  deletions INTEGER DEFAULT 0 NOT NULL
);

CREATE INDEX garbage_due ON garbage (due_at);

-- Queue messages that failed too often, for the operator to read.
CREATE TABLE dead_letters (
  id TEXT PRIMARY KEY NOT NULL,
  queue TEXT NOT NULL,
  body TEXT,
  received_at INTEGER NOT NULL
);

CREATE INDEX dead_letters_by_age ON dead_letters (received_at, id);
