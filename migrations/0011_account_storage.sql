-- Bytes of an account's files are counted where their rows change, so that no write forgets it.
CREATE TRIGGER files_stored AFTER INSERT ON files
WHEN new.object_key IS NOT NULL AND new.size_bytes IS NOT NULL
BEGIN
	INSERT INTO account_storage (account_id, bytes) VALUES (new.account_id, new.size_bytes)
	ON CONFLICT (account_id) DO UPDATE SET bytes = bytes + excluded.bytes;
END;
--> statement-breakpoint
CREATE TRIGGER files_changed AFTER UPDATE OF object_key, size_bytes ON files
WHEN iif(new.object_key IS NULL, 0, coalesce(new.size_bytes, 0)) <> iif(old.object_key IS NULL, 0, coalesce(old.size_bytes, 0))
BEGIN
	INSERT INTO account_storage (account_id, bytes)
	VALUES (new.account_id, iif(new.object_key IS NULL, 0, coalesce(new.size_bytes, 0)) - iif(old.object_key IS NULL, 0, coalesce(old.size_bytes, 0)))
	ON CONFLICT (account_id) DO UPDATE SET bytes = bytes + excluded.bytes;
END;
--> statement-breakpoint
CREATE TRIGGER files_removed AFTER DELETE ON files
WHEN old.object_key IS NOT NULL AND old.size_bytes IS NOT NULL
BEGIN
	UPDATE account_storage SET bytes = bytes - old.size_bytes WHERE account_id = old.account_id;
END;
--> statement-breakpoint
INSERT INTO account_storage (account_id, bytes)
SELECT account_id, sum(size_bytes) FROM files
WHERE object_key IS NOT NULL AND size_bytes IS NOT NULL
GROUP BY account_id;
