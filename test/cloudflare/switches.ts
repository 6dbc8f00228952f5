/**
 * Behaviour of the deployed platform that no machine of ours has, each with what the rig does of
 * it. Cloudflare's documents are cited by their path in cloudflare/cloudflare-docs as of November
 * 2026.
 */
export const SWITCHES = {
  // cloudflare/sandbox-sdk, the handler of R2 mounts (May 2026): it pipes a request through
  // FixedLengthStream(content-length), since the stream that it gets does not tell its length.
  "unmeasured-bodies":
    "requests reach an outbound handler without the length that their header has",
  // cloudflare/sandbox-sdk issues 116 (5 to 7 s) and 275 (5 to 6 s); containers/faq says 2 to 3 s.
  "slow-starts": "an instance takes 4 to 7 s to start",
  // cloudflare/containers issue 45 (refused while others end), and both errors by the text that
  // @cloudflare/containers 0.3.7 knows them by.
  "refused-starts":
    "a start is refused while another instance drains, and as the second in a second",
  // containers/platform-details/rollouts: SIGTERM, and SIGKILL 15 minutes later.
  "early-sigterm": "an instance gets SIGTERM in the middle of its first task, long before SIGKILL",
  // cloudflare/containers issue 137: transfers of some megabytes stall for minutes after 5 to 15
  // MB.
  "stalled-transfers":
    "the first large transfer of each object stops in its middle, and does not end",
  // cloudflare/containers issue 137: 13 to 24 MB a second; cloudflare/cloudflare-docs issue 23626:
  // 32 to 40.
  "slow-transfers": "a transfer moves 20 MB a second",
  // containers/platform-details/limits: an instance that runs out of memory is started again.
  // Nothing is documented of the variables of `start()` then, so the worst is taken.
  "bare-restarts": "an instance that works is killed, and started again without its environment",
  // workers/platform/limits: request bodies of 100 MB on the plans Free and Pro.
  "body-limit":
    "a request body above 100 MB is refused in front of the Worker, with a page of HTML",
  // d1/platform/limits: 100 parameters, 100 KB a statement, 30 s a query, 1,000 statements an
  // invocation.
  "d1-limits": "D1 has its documented limits",
  // queues/platform/limits had 12 hours until February 2026, and has 24 since then: the lower one
  // is safe.
  "queue-delays": "a message that is to be delayed by more than 12 hours is refused",
  // Nothing is documented of IPv6 in instances: a resolver that has such addresses first, and a
  // network that drops what is sent there, is the worst that may be.
  "dropped-ipv6": "a name of the web has an IPv6 address first, which drops what is sent to it",
} as const

export type Switch = keyof typeof SWITCHES

export const ALL_SWITCHES = Object.keys(SWITCHES).filter(isSwitch)

/** How long a query of D1 may take. */
export const QUERY_MS_MAX = 30_000
/** The longest delay of a message, in seconds. */
export const QUEUE_DELAY_SECONDS_MAX = 43_200
export const TRANSFER_BYTES_PER_SECOND = 20_000_000
/** Transfers from this size on are stalled. */
export const STALLED_BYTES_MIN = 64 * 1024
export const BODY_BYTES_MAX = 100_000_000

/** The header by which the rig hands a request of an instance to the object of the instance. */
export const INSTANCE_HEADER = "rig-instance"
/** The URL that a request of the rig stands for. */
export const URL_HEADER = "rig-url"
/** The status by which the engine says that a call of an instance failed, and why in the body. */
export const CALL_FAILED = 599

export function isSwitch(name: string): name is Switch {
  return Object.hasOwn(SWITCHES, name)
}
