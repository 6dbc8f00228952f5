/**
 * Cron name of the sweep that a service on one machine runs when its process starts. The scheduled
 * time of this cron run is the start of the process. Cloudflare never sends this name, because a
 * Worker runs there in many processes, without a single start.
 */
export const STARTUP_CRON = "@reboot"
