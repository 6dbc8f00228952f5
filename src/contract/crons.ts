/**
 * Cron name of the sweep at the start of a one-machine service, scheduled for the start of the
 * process. Cloudflare never sends this name, since nothing there sees all processes of a Worker.
 */
export const STARTUP_CRON = "@reboot"
