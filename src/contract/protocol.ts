/**
 * Version of the protocol between Worker and runner. Both sides send the version in
 * `PROTOCOL_HEADER`.
 */
export const PROTOCOL_VERSION = "2"
export const PROTOCOL_HEADER = "lathe-protocol"

/** Minimum length of a runner's token. The process that starts the runner generates the token. */
export const RUNNER_TOKEN_CHARACTERS_MIN = 32

/**
 * Returns the headers of a request to a runner. A runner that was started with a token requires the
 * token in each request.
 */
export function makeRunnerHeaders(token: string | null | undefined): Record<string, string> {
  const headers = { [PROTOCOL_HEADER]: PROTOCOL_VERSION }
  return token ? { ...headers, authorization: `Bearer ${token}` } : headers
}

/**
 * Error code with which a runner answers `POST /tasks` (status 503) until its sandbox has passed
 * the self-test.
 */
export const UNSANDBOXED_ERROR_CODE = "unsandboxed"

/** Header with the id of the runner's process; the id changes with a restart. */
export const RUNNER_BOOT_ID_HEADER = "lathe-boot"

/**
 * Header of each runner response with the installation state of the yt-dlp version that the
 * operator requested.
 */
export const YTDLP_STATE_HEADER = "lathe-ytdlp"

/**
 * Size of the parts of an output, in bytes; a larger output is uploaded in parts. R2 requires parts
 * of equal size.
 */
export const OUTPUT_PART_BYTES = 32 * 1024 * 1024
export const PARALLEL_OUTPUT_PARTS_MAX = 4

/**
 * Default number of bytes that media files leave free on the disk, as a reserve for the service's
 * own data.
 */
export const DISK_RESERVE_BYTES = 1024 ** 3

/**
 * Minimum disk space for the files that tools write, in bytes. A task with outputs starts only if
 * this much space is free.
 */
export const WORKSPACE_BYTES_MIN = 16 * 1024 * 1024

/**
 * Maximum time between two reports of a run, in milliseconds. A lease survives three missed
 * reports.
 */
export const HEARTBEAT_INTERVAL_MS = 10_000
export const LEASE_DURATION_MS = 35_000

/**
 * Header of an error response that the outbound handler created in place of the requested host. The
 * value is the reason for the error. On one machine, all fetches of the Worker pass through the
 * outbound handler, which checks the addresses of the requested host.
 */
export const OUTBOUND_ERROR_HEADER = "lathe-outbound-error"
