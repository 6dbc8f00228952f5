CREATE TABLE `accounts` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`plan` text NOT NULL,
	`webhook_secret` text NOT NULL,
	`webhook_secret_before` text,
	`webhook_secret_rotated_at` integer,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `accounts_name_unique` ON `accounts` (`name`);--> statement-breakpoint
CREATE TABLE `deliveries` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`job_id` text,
	`type` text NOT NULL,
	`url` text NOT NULL,
	`body` text NOT NULL,
	`state` text NOT NULL,
	`tries` integer DEFAULT 0 NOT NULL,
	`next_try_at` integer NOT NULL,
	`created_at` integer NOT NULL,
	`completed_at` integer
);
--> statement-breakpoint
CREATE INDEX `deliveries_listed` ON `deliveries` (`account_id`,`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `deliveries_of_job` ON `deliveries` (`job_id`);--> statement-breakpoint
CREATE INDEX `deliveries_ended` ON `deliveries` (`completed_at`) WHERE completed_at is not null;--> statement-breakpoint
CREATE INDEX `deliveries_due` ON `deliveries` (`next_try_at`) WHERE state = 'waiting';--> statement-breakpoint
CREATE TABLE `delivery_tries` (
	`delivery_id` text NOT NULL,
	`number` integer NOT NULL,
	`started_at` integer NOT NULL,
	`duration_ms` integer NOT NULL,
	`status` integer,
	`error` text,
	`answer` text,
	PRIMARY KEY(`delivery_id`, `number`)
);
--> statement-breakpoint
CREATE TABLE `files` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`job_id` text NOT NULL,
	`output_key` text,
	`name` text NOT NULL,
	`source` text NOT NULL,
	`state` text NOT NULL,
	`object_key` text,
	`size_bytes` integer,
	`content_type` text,
	`probe` text,
	`probe_object_key` text,
	`probe_error` text,
	`error_code` text,
	`error_message` text,
	`created_at` integer NOT NULL,
	`completed_at` integer
);
--> statement-breakpoint
CREATE INDEX `files_of_job` ON `files` (`job_id`);--> statement-breakpoint
CREATE INDEX `files_listed` ON `files` (`account_id`,`id`) WHERE object_key is not null;--> statement-breakpoint
CREATE TABLE `garbage` (
	`prefix` text PRIMARY KEY NOT NULL,
	`file_id` text,
	`due_at` integer NOT NULL,
	`passes` integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE INDEX `garbage_due` ON `garbage` (`due_at`);--> statement-breakpoint
CREATE TABLE `idempotency` (
	`account_id` text NOT NULL,
	`key` text NOT NULL,
	`body_hash` text NOT NULL,
	`job_id` text NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`account_id`, `key`)
);
--> statement-breakpoint
CREATE INDEX `idempotency_by_age` ON `idempotency` (`created_at`);--> statement-breakpoint
CREATE TABLE `jobs` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`kind` text NOT NULL,
	`state` text NOT NULL,
	`version` integer NOT NULL,
	`priority` integer NOT NULL,
	`request` text NOT NULL,
	`result` text,
	`webhook_url` text,
	`origin` text NOT NULL,
	`retry_of` text,
	`metadata` text,
	`error_code` text,
	`error_message` text,
	`error_lines` text,
	`progress` real,
	`processing_ms` integer DEFAULT 0 NOT NULL,
	`attempts` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL,
	`accepted_at` integer,
	`started_at` integer,
	`completed_at` integer
);
--> statement-breakpoint
CREATE INDEX `jobs_listed` ON `jobs` (`account_id`,`id`);--> statement-breakpoint
CREATE INDEX `jobs_listed_by_kind` ON `jobs` (`account_id`,`kind`,`id`);--> statement-breakpoint
CREATE INDEX `jobs_open` ON `jobs` (`account_id`) WHERE state in ('waiting', 'running');--> statement-breakpoint
CREATE INDEX `jobs_finished` ON `jobs` (`completed_at`) WHERE completed_at is not null;--> statement-breakpoint
CREATE INDEX `jobs_unaccepted` ON `jobs` (`created_at`) WHERE accepted_at is null and state in ('waiting', 'running');--> statement-breakpoint
CREATE TABLE `keys` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`hash` text NOT NULL,
	`prefix` text NOT NULL,
	`created_at` integer NOT NULL,
	`revoked_at` integer,
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `keys_hash` ON `keys` (`hash`);--> statement-breakpoint
CREATE TABLE `task_inputs` (
	`task_id` text NOT NULL,
	`key` text NOT NULL,
	`file_id` text NOT NULL,
	`object_key` text,
	PRIMARY KEY(`task_id`, `key`)
);
--> statement-breakpoint
CREATE INDEX `task_inputs_of_file` ON `task_inputs` (`file_id`);--> statement-breakpoint
CREATE TABLE `tasks` (
	`id` text PRIMARY KEY NOT NULL,
	`job_id` text NOT NULL,
	`account_id` text NOT NULL,
	`state` text NOT NULL,
	`fence` integer DEFAULT 0 NOT NULL,
	`priority` integer NOT NULL,
	`work` text NOT NULL,
	`slot` text,
	`grant` integer,
	`failures` integer DEFAULT 0 NOT NULL,
	`interruptions` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL,
	`completed_at` integer
);
--> statement-breakpoint
CREATE INDEX `tasks_of_job` ON `tasks` (`job_id`);--> statement-breakpoint
CREATE INDEX `tasks_open` ON `tasks` (`account_id`) WHERE state in ('waiting', 'running');--> statement-breakpoint
CREATE TABLE `uploads` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`object_key` text NOT NULL,
	`multipart_id` text,
	`task_id` text,
	`created_at` integer NOT NULL,
	`dying_at` integer
);
--> statement-breakpoint
CREATE INDEX `uploads_by_age` ON `uploads` (`created_at`);--> statement-breakpoint
CREATE INDEX `uploads_dying` ON `uploads` (`dying_at`) WHERE dying_at is not null;--> statement-breakpoint
CREATE INDEX `uploads_object` ON `uploads` (`object_key`);