-- Uploads by the tus protocol. A row has the id that its File will have, and stays until expires_at, so that
-- the caller finds the File of a finished upload. The first parts lie in R2 as rows of upload_parts, and the
-- tail, which is smaller than a part, as an object of its own.
CREATE TABLE tus_uploads (
  id TEXT PRIMARY KEY NOT NULL,
  account_id TEXT NOT NULL,
  link_id TEXT,
  name TEXT NOT NULL,
  content_type TEXT NOT NULL,
  fields TEXT NOT NULL,
  metadata_header TEXT NOT NULL,
  size_bytes INTEGER NOT NULL,
  part_bytes INTEGER NOT NULL,
  offset_bytes INTEGER DEFAULT 0 NOT NULL,
  parts_claimed INTEGER DEFAULT 0 NOT NULL,
  tail_key TEXT,
  tail_bytes INTEGER DEFAULT 0 NOT NULL,
  has_tails INTEGER DEFAULT 0 NOT NULL,
  writer TEXT,
  expires_at INTEGER NOT NULL,
  finished_at INTEGER,
  created_at INTEGER NOT NULL
);

CREATE INDEX tus_uploads_of_account ON tus_uploads (account_id, finished_at, id);
CREATE INDEX tus_uploads_by_expiry ON tus_uploads (expires_at);

-- Links by which a browser uploads one file without a key.
CREATE TABLE upload_links (
  id TEXT PRIMARY KEY NOT NULL,
  account_id TEXT NOT NULL,
  key_id TEXT,
  secret_hash TEXT NOT NULL,
  size_bytes_max INTEGER NOT NULL,
  types TEXT NOT NULL,
  origins TEXT NOT NULL,
  fields TEXT NOT NULL,
  file_id TEXT,
  expires_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL
);

CREATE UNIQUE INDEX upload_links_secret ON upload_links (secret_hash);
CREATE INDEX upload_links_of_account ON upload_links (account_id, id);
CREATE INDEX upload_links_by_expiry ON upload_links (expires_at);
