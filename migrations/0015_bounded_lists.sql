DROP INDEX `deliveries_listed`;--> statement-breakpoint
CREATE INDEX `deliveries_listed` ON `deliveries` (`account_id`,`state`,`id`);--> statement-breakpoint
DROP INDEX `files_listed`;--> statement-breakpoint
CREATE INDEX `files_listed_by_source` ON `files` (`account_id`,`source`,`state`,`id`) WHERE source not in ('fetch', 'transcript') and (object_key is not null or source = 'import');--> statement-breakpoint
CREATE INDEX `files_listed` ON `files` (`account_id`,`state`,`id`) WHERE source not in ('fetch', 'transcript') and (object_key is not null or source = 'import');--> statement-breakpoint
DROP INDEX `jobs_listed`;--> statement-breakpoint
DROP INDEX `jobs_listed_by_kind`;--> statement-breakpoint
CREATE INDEX `jobs_listed` ON `jobs` (`account_id`,`state`,`id`) WHERE kind <> 'metadata';--> statement-breakpoint
CREATE INDEX `jobs_listed_by_kind` ON `jobs` (`account_id`,`kind`,`state`,`id`);--> statement-breakpoint
DROP INDEX `dead_letters_by_age`;--> statement-breakpoint
CREATE INDEX `dead_letters_by_age` ON `dead_letters` (`received_at`,`id`);