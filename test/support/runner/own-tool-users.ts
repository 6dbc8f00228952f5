/**
 * First user id, number of ranges, and ids per range, for the tools of runners. All ids are below
 * 65,536, because a rootless container has no others.
 */
const FIRST = 20_001
const RANGES = 800
const USERS = 50

/**
 * Gives each test process its own user ids for the tools of its runners. The kernel counts
 * processes by user, so that concurrent tests would otherwise share the process limit.
 */
process.env["SANDBOX_FIRST_UID"] ??= String(FIRST + (process.pid % RANGES) * USERS)
