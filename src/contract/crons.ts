/**
 * The cron of the first sweep after a Worker's only process began, whose scheduled time is when that
 * was. There is none of it on Cloudflare, where nobody knows all processes.
 */
export const AT_START = "@reboot"
