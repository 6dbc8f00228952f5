const GB = 1000 ** 3

/**
 * Disk size of Cloudflare's container instance types, in bytes. docs/operate/costs.md lists CPU and
 * memory.
 */
export const INSTANCE_DISK_BYTES = {
  lite: 2 * GB,
  basic: 4 * GB,
  "standard-1": 8 * GB,
  "standard-2": 12 * GB,
  "standard-3": 16 * GB,
  "standard-4": 20 * GB,
} as const

export const INSTANCE_TYPES = [
  "lite",
  "basic",
  "standard-1",
  "standard-2",
  "standard-3",
  "standard-4",
] as const satisfies readonly (keyof typeof INSTANCE_DISK_BYTES)[]
