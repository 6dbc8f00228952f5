CREATE TABLE `mail_counts` (
	`address` text PRIMARY KEY NOT NULL,
	`count` integer NOT NULL,
	`until` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `mail_counts_by_end` ON `mail_counts` (`until`);--> statement-breakpoint
CREATE INDEX `users_unconfirmed` ON `users` (`created_at`) WHERE email_verified = 0;