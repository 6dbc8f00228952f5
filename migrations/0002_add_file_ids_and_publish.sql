-- Jobs name the Files that they will make from their create on, and publish them at their success.
ALTER TABLE jobs ADD COLUMN file_ids TEXT;
ALTER TABLE jobs ADD COLUMN publish INTEGER;
