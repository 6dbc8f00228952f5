DROP INDEX `files_of_account`;--> statement-breakpoint
CREATE INDEX `files_unlisted` ON `files` (`account_id`) WHERE source in ('fetch', 'transcript') or (object_key is null and source <> 'import');--> statement-breakpoint
ALTER TABLE `deliveries` ADD `first_try` text;--> statement-breakpoint
ALTER TABLE `jobs` ADD `ended_tasks` text;