CREATE TABLE `plans` (
	`name` text PRIMARY KEY NOT NULL,
	`limits` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `dead_letters` (
	`id` text PRIMARY KEY NOT NULL,
	`queue` text NOT NULL,
	`body` text,
	`received_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `dead_letters_by_age` ON `dead_letters` (`received_at`);--> statement-breakpoint
CREATE TABLE `receiver_outages` (
	`account_id` text NOT NULL,
	`receiver` text NOT NULL,
	`failing_since` integer NOT NULL,
	`failed_at` integer NOT NULL,
	`tries` integer DEFAULT 1 NOT NULL,
	`status` integer,
	`error` text,
	`due_at` integer,
	`alerted_at` integer,
	PRIMARY KEY(`account_id`, `receiver`)
);
--> statement-breakpoint
CREATE INDEX `receiver_outages_due` ON `receiver_outages` (`due_at`) WHERE due_at is not null;--> statement-breakpoint
CREATE INDEX `receiver_outages_by_age` ON `receiver_outages` (`failed_at`);--> statement-breakpoint
CREATE TABLE `account_storage` (
	`account_id` text PRIMARY KEY NOT NULL,
	`bytes` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `usage_days` (
	`account_id` text NOT NULL,
	`day` text NOT NULL,
	`key_id` text NOT NULL,
	`requests` integer DEFAULT 0 NOT NULL,
	`jobs` integer DEFAULT 0 NOT NULL,
	`fetches` integer DEFAULT 0 NOT NULL,
	`succeeded_jobs` integer DEFAULT 0 NOT NULL,
	`failed_jobs` integer DEFAULT 0 NOT NULL,
	`processing_ms` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`account_id`, `day`, `key_id`)
);
--> statement-breakpoint
CREATE INDEX `usage_days_by_day` ON `usage_days` (`day`);--> statement-breakpoint
CREATE TABLE `credentials` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`provider_id` text NOT NULL,
	`provider_account_id` text NOT NULL,
	`access_token` text,
	`refresh_token` text,
	`id_token` text,
	`access_token_expires_at` integer,
	`refresh_token_expires_at` integer,
	`scope` text,
	`password` text,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `credentials_of_user` ON `credentials` (`user_id`);--> statement-breakpoint
CREATE TABLE `invitations` (
	`id` text PRIMARY KEY NOT NULL,
	`email` text NOT NULL,
	`plan` text NOT NULL,
	`token_hash` text NOT NULL,
	`expires_at` integer NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `invitations_email_unique` ON `invitations` (`email`);--> statement-breakpoint
CREATE UNIQUE INDEX `invitations_token_hash_unique` ON `invitations` (`token_hash`);--> statement-breakpoint
CREATE TABLE `sessions` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`token` text NOT NULL,
	`expires_at` integer NOT NULL,
	`ip_address` text,
	`user_agent` text,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `sessions_token_unique` ON `sessions` (`token`);--> statement-breakpoint
CREATE INDEX `sessions_of_user` ON `sessions` (`user_id`);--> statement-breakpoint
CREATE TABLE `sign_in_limits` (
	`id` text PRIMARY KEY NOT NULL,
	`key` text NOT NULL,
	`count` integer NOT NULL,
	`last_request` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `sign_in_limits_key_unique` ON `sign_in_limits` (`key`);--> statement-breakpoint
CREATE TABLE `users` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`name` text NOT NULL,
	`email` text NOT NULL,
	`email_verified` integer NOT NULL,
	`image` text,
	`is_operator` integer DEFAULT false NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `users_account_id_unique` ON `users` (`account_id`);--> statement-breakpoint
CREATE UNIQUE INDEX `users_email_unique` ON `users` (`email`);--> statement-breakpoint
CREATE TABLE `verifications` (
	`id` text PRIMARY KEY NOT NULL,
	`identifier` text NOT NULL,
	`value` text NOT NULL,
	`expires_at` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `verifications_by_identifier` ON `verifications` (`identifier`);--> statement-breakpoint
DROP INDEX `jobs_open`;--> statement-breakpoint
ALTER TABLE `jobs` ADD `key_id` text;--> statement-breakpoint
ALTER TABLE `jobs` ADD `request_id` text;--> statement-breakpoint
CREATE INDEX `jobs_open` ON `jobs` (`account_id`,`state`) WHERE state in ('waiting', 'running');--> statement-breakpoint
ALTER TABLE `accounts` ADD `suspended_at` integer;--> statement-breakpoint
ALTER TABLE `accounts` ADD `deleted_at` integer;--> statement-breakpoint
ALTER TABLE `accounts` ADD `purge_at` integer;--> statement-breakpoint
CREATE INDEX `accounts_of_plan` ON `accounts` (`plan`,`id`);--> statement-breakpoint
CREATE INDEX `accounts_to_purge` ON `accounts` (`purge_at`) WHERE purge_at is not null;--> statement-breakpoint
ALTER TABLE `keys` ADD `name` text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE `keys` ADD `scopes` text DEFAULT '["admin"]' NOT NULL;--> statement-breakpoint
ALTER TABLE `keys` ADD `expires_at` integer;--> statement-breakpoint
ALTER TABLE `keys` ADD `last_used_at` integer;--> statement-breakpoint
ALTER TABLE `keys` ADD `replaced_by` text;--> statement-breakpoint
CREATE INDEX `keys_of_account` ON `keys` (`account_id`,`id`);--> statement-breakpoint
CREATE INDEX `deliveries_waiting` ON `deliveries` (`account_id`,`url`) WHERE state = 'waiting';--> statement-breakpoint
CREATE INDEX `files_of_account` ON `files` (`account_id`);