/** Version of the protocol of Worker and runner; both send it in `PROTOCOL_HEADER`. */
export const PROTOCOL_VERSION = "2"
export const PROTOCOL_HEADER = "lathe-protocol"

/** Least length of a runner's token, which is made by whatever starts the runner. */
export const RUNNER_TOKEN_CHARACTERS_MIN = 32

/** Headers of every request to a runner; one that was started with a token requires it. */
export function runnerHeaders(token: string | null | undefined): Record<string, string> {
  const headers = { [PROTOCOL_HEADER]: PROTOCOL_VERSION }
  return token ? { ...headers, authorization: `Bearer ${token}` } : headers
}

/** What `POST /tasks` is refused with (503) while no sandbox has passed its self-test. */
export const UNSANDBOXED = "unsandboxed"

/** Names the runner's process, so that a restarted runner is told from the one before. */
export const BOOT_HEADER = "lathe-boot"

/** On each answer of a runner: how it stands with the yt-dlp that it was told to use. */
export const YTDLP_HEADER = "lathe-ytdlp"

/** An output above this size travels in parts of this size, in bytes; R2 wants equal parts. */
export const OUTPUT_PART_BYTES = 32 * 1024 * 1024
export const OUTPUT_PARTS_AT_ONCE = 4

/** What stays free, by default, of a disk that media share with the service's own state. */
export const DISK_RESERVE_BYTES = 1024 ** 3

/** The least room for what its tools write with which a task that stores outputs is begun. */
export const WORKSPACE_BYTES_MIN = 16 * 1024 * 1024

/** A runner reports at least this often, and a lease outlives three silences. */
export const HEARTBEAT_MS = 10_000
export const LEASE_MS = 35_000

/**
 * On one machine, fetches of the Worker pass a handler that checks the addresses of the host. An
 * answer with this header is the handler's own: nothing was reached, and the header says why.
 */
export const OUTBOUND_ERROR_HEADER = "lathe-outbound-error"
