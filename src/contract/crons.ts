/**
 * Cron name of the sweep that a one-machine service runs when it starts. The scheduled time of this
 * cron run is the start of the process. Cloudflare never sends this name, because a Worker has many
 * processes there and no single start.
 */
export const STARTUP_CRON = "@reboot"
