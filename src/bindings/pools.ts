import type { Settings } from "./settings.ts"
import { INSTANCE_DISK_BYTES } from "./instance-types.ts"
import type { INSTANCE_TYPES } from "./instance-types.ts"

type InstancesSetting = Extract<keyof Settings, `${string}_INSTANCES`>
type InstanceTypeSetting = Extract<keyof Settings, `${string}_INSTANCE_TYPE`>

const GIBIBYTE = 1024 ** 3

/**
 * Pool of runners, which execute tasks: the containers of one class on Cloudflare, or slots for
 * concurrent tasks in the runner process on one machine.
 */
export type PoolDefinition = {
  /** Name of the container class in wrangler.toml and src/index.ts. */
  className: string
  /** Durable Object binding of the container class. */
  binding: string
  /** Name of the setting for the maximum number of running containers. */
  instances: InstancesSetting
  /**
   * Cloudflare instance type of the containers, unless the setting `instanceTypeSetting` names
   * another.
   */
  instanceType: (typeof INSTANCE_TYPES)[number]
  instanceTypeSetting: InstanceTypeSetting
  /** Bytes of a container's disk that the image and the operating system occupy. */
  systemBytes: number
  /**
   * Network access of the pool's containers, besides their requests to the Worker for inputs,
   * outputs and reports.
   */
  network: "none" | "proxy"
}

/**
 * Pools of runners by name. The definition of each kind of task (src/contract/tasks) names a pool.
 * A new pool needs an entry here, an export of its class in src/index.ts and bindings in
 * wrangler.toml; test/runner/pools.test.ts lists missing parts.
 */
export const POOLS = {
  media: {
    className: "MediaRunner",
    binding: "MEDIA_RUNNER",
    instances: "RUNNER_INSTANCES",
    instanceType: "standard-4",
    instanceTypeSetting: "RUNNER_INSTANCE_TYPE",
    systemBytes: GIBIBYTE,
    network: "none",
  },
  light: {
    className: "LightRunner",
    binding: "LIGHT_RUNNER",
    instances: "LIGHT_INSTANCES",
    instanceType: "basic",
    instanceTypeSetting: "LIGHT_INSTANCE_TYPE",
    systemBytes: GIBIBYTE,
    network: "none",
  },
  fetch: {
    className: "FetchRunner",
    binding: "FETCH_RUNNER",
    instances: "FETCH_INSTANCES",
    instanceType: "standard-1",
    instanceTypeSetting: "FETCH_INSTANCE_TYPE",
    systemBytes: GIBIBYTE,
    network: "proxy",
  },
  lookup: {
    className: "LookupRunner",
    binding: "LOOKUP_RUNNER",
    instances: "LOOKUP_INSTANCES",
    instanceType: "basic",
    instanceTypeSetting: "LOOKUP_INSTANCE_TYPE",
    systemBytes: GIBIBYTE,
    network: "proxy",
  },
  speech: {
    className: "SpeechRunner",
    binding: "SPEECH_RUNNER",
    instances: "SPEECH_INSTANCES",
    instanceType: "standard-2",
    instanceTypeSetting: "SPEECH_INSTANCE_TYPE",
    // The image of this pool's containers also contains speech models.
    systemBytes: 2 * GIBIBYTE,
    network: "none",
  },
} as const satisfies Record<string, PoolDefinition>

export type PoolName = keyof typeof POOLS
export type PoolBinding = (typeof POOLS)[PoolName]["binding"]

/** Returns the pool with a name. Throws if there is no such pool. */
export function getPoolDefinition(name: string): (typeof POOLS)[PoolName] {
  if (isPoolName(name)) return POOLS[name]
  throw new Error(`unknown pool "${name}"`)
}

/**
 * Returns the names of a pool's slots, each of which runs one task at a time. On Cloudflare a slot
 * is a container. On one machine each pool has `RUNNER_CAPACITY` slots of the same runner process,
 * so that short tasks do not wait for long tasks of other pools.
 */
export function listSlotNames(pool: string, settings: Settings): string[] {
  const count = settings.RUNNER_ORIGIN
    ? settings.RUNNER_CAPACITY
    : settings[getPoolDefinition(pool).instances]
  return Array.from({ length: count }, (_, index) => `${pool}-${index}`)
}

const INSTANCES_PER_SLOT = 1.5
const SPARE_INSTANCES_MIN = 2

/**
 * Returns the maximum number of container instances for a number of slots. More instances than
 * slots are allowed, because Cloudflare counts a draining instance until the instance has stopped.
 */
export function computeContainerInstancesMax(slots: number): number {
  return Math.max(Math.ceil(slots * INSTANCES_PER_SLOT), slots + SPARE_INSTANCES_MIN)
}

/** Returns the bytes of disk that a task of a pool can use in a container. */
export function computeUsableContainerDiskBytes(pool: string, settings: Settings): number {
  const { instanceType, instanceTypeSetting, systemBytes } = getPoolDefinition(pool)
  return INSTANCE_DISK_BYTES[settings[instanceTypeSetting] ?? instanceType] - systemBytes
}

/** Returns the pool to which a slot belongs, by the slot's name. */
export function getPoolDefinitionOfSlot(slot: string): (typeof POOLS)[PoolName] {
  return getPoolDefinition(getPoolNameOfSlot(slot))
}

/** Returns the name of the pool to which a slot belongs. */
export function getPoolNameOfSlot(slot: string): string {
  return slot.slice(0, slot.lastIndexOf("-"))
}

function isPoolName(name: string): name is PoolName {
  return Object.hasOwn(POOLS, name)
}
