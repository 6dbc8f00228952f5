CREATE TABLE `metadata_lookups` (
	`account_id` text NOT NULL,
	`url_hash` text NOT NULL,
	`job_id` text NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`account_id`, `url_hash`)
);
--> statement-breakpoint
CREATE INDEX `metadata_lookups_by_age` ON `metadata_lookups` (`created_at`);--> statement-breakpoint
CREATE TABLE `task_secrets` (
	`task_id` text PRIMARY KEY NOT NULL,
	`job_id` text NOT NULL,
	`account_id` text NOT NULL,
	`secrets` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `task_secrets_of_job` ON `task_secrets` (`job_id`);--> statement-breakpoint
CREATE TABLE `upload_parts` (
	`upload_id` text NOT NULL,
	`number` integer NOT NULL,
	`etag` text NOT NULL,
	`size_bytes` integer NOT NULL,
	PRIMARY KEY(`upload_id`, `number`)
);
--> statement-breakpoint
DROP INDEX `files_listed`;--> statement-breakpoint
ALTER TABLE `files` ADD `source_url` text;--> statement-breakpoint
CREATE INDEX `files_fetched` ON `files` (`completed_at`) WHERE source = 'fetch' and object_key is not null;--> statement-breakpoint
CREATE INDEX `files_listed` ON `files` (`account_id`,`id`) WHERE source <> 'fetch' and (object_key is not null or source = 'import');--> statement-breakpoint
ALTER TABLE `task_inputs` ADD `awaits_probe` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `tasks` ADD `weight` integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE `uploads` ADD `validator` text;