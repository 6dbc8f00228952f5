ALTER TABLE `deliveries` ADD `body_object_key` text;--> statement-breakpoint
ALTER TABLE `files` ADD `bundle_object_key` text;--> statement-breakpoint
ALTER TABLE `jobs` ADD `request_object_key` text;--> statement-breakpoint
ALTER TABLE `jobs` ADD `result_object_key` text;--> statement-breakpoint
ALTER TABLE `tasks` ADD `pool` text;--> statement-breakpoint
ALTER TABLE `tasks` ADD `work_object_key` text;--> statement-breakpoint
ALTER TABLE `tasks` ADD `result_object_key` text;