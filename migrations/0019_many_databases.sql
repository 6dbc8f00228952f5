CREATE TABLE `account_moves` (
	`account_id` text PRIMARY KEY NOT NULL,
	`from_database` integer NOT NULL,
	`to_database` integer NOT NULL,
	`state` text NOT NULL,
	`since` integer NOT NULL,
	`version` integer NOT NULL,
	`cursor` text,
	`lease_until` integer DEFAULT 0 NOT NULL,
	`error` text
);
--> statement-breakpoint
CREATE UNIQUE INDEX `account_moves_by_version` ON `account_moves` (`version`);--> statement-breakpoint
CREATE INDEX `account_moves_under_way` ON `account_moves` (`state`) WHERE state not in ('moved', 'stayed');--> statement-breakpoint
ALTER TABLE `accounts` ADD `database` integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE `accounts` ADD `version` integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE `accounts` ADD `copied_version` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX `accounts_to_copy` ON `accounts` (`id`) WHERE database <> 1 and version <> copied_version;
--> statement-breakpoint
-- What a copy of the row has to follow, in whatever statement it changes.
CREATE TRIGGER accounts_changed AFTER UPDATE OF name, plan, webhook_secret, webhook_secret_before, webhook_secret_rotated_at, suspended_at, deleted_at ON accounts
WHEN new.version = old.version AND (new.name IS NOT old.name OR new.plan IS NOT old.plan OR new.webhook_secret IS NOT old.webhook_secret OR new.webhook_secret_before IS NOT old.webhook_secret_before OR new.webhook_secret_rotated_at IS NOT old.webhook_secret_rotated_at OR new.suspended_at IS NOT old.suspended_at OR new.deleted_at IS NOT old.deleted_at)
BEGIN
	UPDATE accounts SET version = version + 1 WHERE id = new.id;
END;
