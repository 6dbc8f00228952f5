/**
 * Cron name of the sweep that a one-machine service runs when it starts. Its scheduled time is the
 * start of the process. Cloudflare never sends it, because a Worker has many processes there.
 */
export const STARTUP_CRON = "@reboot"
