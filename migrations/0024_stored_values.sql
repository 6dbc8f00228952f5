CREATE TABLE `new_task_secrets` (
	`task_id` text NOT NULL,
	`part` integer DEFAULT 0 NOT NULL,
	`job_id` text NOT NULL,
	`account_id` text NOT NULL,
	`secrets` text NOT NULL,
	PRIMARY KEY(`task_id`, `part`)
);
--> statement-breakpoint
INSERT INTO `new_task_secrets` (`task_id`, `job_id`, `account_id`, `secrets`) SELECT `task_id`, `job_id`, `account_id`, `secrets` FROM `task_secrets`;--> statement-breakpoint
DROP TABLE `task_secrets`;--> statement-breakpoint
ALTER TABLE `new_task_secrets` RENAME TO `task_secrets`;--> statement-breakpoint
CREATE INDEX `task_secrets_of_job` ON `task_secrets` (`job_id`);--> statement-breakpoint
ALTER TABLE `jobs` ADD `media_removed_at` integer;
