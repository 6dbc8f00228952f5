/** Ids of users below those that a container without root knows, in ranges for a runner each. */
const FIRST = 20_001
const RANGES = 800
const USERS = 50

/**
 * Every process of tests has user ids of its own for the tools of its runners: the kernel counts
 * processes by user, and so tests that run at once would use up the limits of each other.
 */
process.env["SANDBOX_FIRST_UID"] ??= String(FIRST + (process.pid % RANGES) * USERS)
