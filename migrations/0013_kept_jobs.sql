DROP INDEX `jobs_finished`;--> statement-breakpoint
CREATE INDEX `jobs_finished` ON `jobs` (`completed_at`) WHERE completed_at is not null and kept_ms is null;