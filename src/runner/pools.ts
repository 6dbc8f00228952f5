import type { Settings } from "../settings.ts"
import { INSTANCE_DISK_BYTES } from "./instance-types.ts"
import type { INSTANCE_TYPES } from "./instance-types.ts"

type InstancesSetting = Extract<keyof Settings, `${string}_INSTANCES`>
type InstanceTypeSetting = Extract<keyof Settings, `${string}_INSTANCE_TYPE`>

const GIBIBYTE = 1024 ** 3

/** A pool of runners: one container class on Cloudflare, and slots of the plain runner elsewhere. */
export type Pool = {
  /** The container class, as wrangler.toml and src/index.ts name it. */
  className: string
  /** The Durable Object binding of the class. */
  binding: string
  /** The setting that says how many containers may run at once. */
  instances: InstancesSetting
  /** The size of its containers, where the setting says no other. */
  instanceType: (typeof INSTANCE_TYPES)[number]
  instanceTypeSetting: InstanceTypeSetting
  /** What the image and the system take of a container's disk. */
  systemBytes: number
  /** What its containers reach beside the Worker's I/O routes. */
  network: "none" | "proxy"
}

/**
 * Every pool of runners by name. The definition of a kind of task names its pool
 * (src/contract/tasks). A pool is added by an entry here, the export of its class in src/index.ts
 * and its bindings in wrangler.toml; test/runner/pools.test.ts says what is missing.
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
    // Its image has models, too.
    systemBytes: 2 * GIBIBYTE,
    network: "none",
  },
} as const satisfies Record<string, Pool>

export type PoolName = keyof typeof POOLS
export type PoolBinding = (typeof POOLS)[PoolName]["binding"]

/** The pool of a name that was stored or sent; throws where there is none. */
export function poolOf(name: string): (typeof POOLS)[PoolName] {
  if (isPoolName(name)) return POOLS[name]
  throw new Error(`there is no pool "${name}"`)
}

/**
 * Names of the slots of a pool: one container each or, on one machine, `RUNNER_CAPACITY` slots of
 * the plain runner for each pool, so that short tasks do not wait for long ones.
 */
export function slotNames(pool: string, settings: Settings): string[] {
  const count = settings.RUNNER_ORIGIN ? settings.RUNNER_CAPACITY : settings[poolOf(pool).instances]
  return Array.from({ length: count }, (_, index) => `${pool}-${index}`)
}

const INSTANCES_PER_SLOT = 1.5
const SPARE_INSTANCES_MIN = 2

/** Instances that a pool of so many slots may have: one that drains counts until it is gone. */
export function instancesMax(slots: number): number {
  return Math.max(Math.ceil(slots * INSTANCES_PER_SLOT), slots + SPARE_INSTANCES_MIN)
}

/** Bytes of the disk that a task of a pool has, where the pool's runners are containers. */
export function containerDiskBytes(pool: string, settings: Settings): number {
  const { instanceType, instanceTypeSetting, systemBytes } = poolOf(pool)
  return INSTANCE_DISK_BYTES[settings[instanceTypeSetting] ?? instanceType] - systemBytes
}

/** The pool that a slot belongs to, by its name. */
export function poolOfSlot(slot: string): (typeof POOLS)[PoolName] {
  return poolOf(poolNameOfSlot(slot))
}

/** The name of the pool that a slot belongs to. */
export function poolNameOfSlot(slot: string): string {
  return slot.slice(0, slot.lastIndexOf("-"))
}

function isPoolName(name: string): name is PoolName {
  return Object.hasOwn(POOLS, name)
}
