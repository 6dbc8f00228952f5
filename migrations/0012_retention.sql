ALTER TABLE `files` ADD `sha256` text;--> statement-breakpoint
ALTER TABLE `files` ADD `published_at` integer;--> statement-breakpoint
ALTER TABLE `jobs` ADD `kept_ms` integer;--> statement-breakpoint
CREATE INDEX `jobs_expiring` ON `jobs` (completed_at + kept_ms) WHERE kept_ms is not null and completed_at is not null;--> statement-breakpoint
-- Plans of the operator's own get the number that the plan "paid" has of the limit that is new.
UPDATE `plans` SET `limits` = json_set(`limits`, '$.linkSecondsMax', 604800)
WHERE json_extract(`limits`, '$.linkSecondsMax') IS NULL;
