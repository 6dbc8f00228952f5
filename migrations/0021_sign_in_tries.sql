CREATE TABLE `sign_in_tries` (
	`network` text PRIMARY KEY NOT NULL,
	`tries` text NOT NULL,
	`last_try_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `sign_in_tries_by_age` ON `sign_in_tries` (`last_try_at`);--> statement-breakpoint
CREATE INDEX `verifications_by_expiry` ON `verifications` (`expires_at`);--> statement-breakpoint
-- The table stays: the version before writes to it until this one is there.
DELETE FROM `sign_in_limits`;
