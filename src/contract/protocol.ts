/** Version of what Worker and runner say to each other; both send it in `PROTOCOL_HEADER`. */
export const PROTOCOL_VERSION = "1"
export const PROTOCOL_HEADER = "lathe-protocol"

/** Least length of a runner's token, which whoever starts it makes. */
export const RUNNER_TOKEN_CHARACTERS_MIN = 32

/** What whoever asks a runner sends along; a runner that was given a token wants it. */
export function runnerHeaders(token: string | null | undefined): Record<string, string> {
  const headers = { [PROTOCOL_HEADER]: PROTOCOL_VERSION }
  return token ? { ...headers, authorization: `Bearer ${token}` } : headers
}

/** Says which process of a slot speaks, so that a runner that restarted is known from its old self. */
export const BOOT_HEADER = "lathe-boot"

/** An output above this size travels in parts of this size, in bytes; R2 wants equal parts. */
export const OUTPUT_PART_BYTES = 32 * 1024 * 1024
export const OUTPUT_PARTS_AT_ONCE = 4

/** A runner reports at least this often, and a lease outlives three silences. */
export const HEARTBEAT_MS = 10_000
export const LEASE_MS = 35_000
