DROP INDEX `tasks_open`;--> statement-breakpoint
CREATE INDEX `tasks_open` ON `tasks` (`account_id`,`state`,`id`) WHERE state in ('waiting', 'running');