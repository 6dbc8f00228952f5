import { z } from "zod"
import { runnerHealthSchema } from "../../../src/contract/runner-health.ts"
import type { RunnerHealth } from "../../../src/contract/runner-health.ts"

const container = z.object({
  slot: z.string(),
  running: z.boolean(),
  problem: z.string().nullable(),
  health: runnerHealthSchema.nullable(),
})

/** Schema of the response of `GET /operator/health`. */
export const operatorHealthSchema = z.object({
  reasons: z.array(z.string()),
  runner: z.union([runnerHealthSchema, z.literal("unreachable")]).nullable(),
  pools: z.array(
    z.object({
      name: z.string(),
      used: z.number().nullable(),
      waiting_accounts: z.number().nullable(),
      containers: z.array(container),
    }),
  ),
})

export type OperatorHealth = z.infer<typeof operatorHealthSchema>

/**
 * Health of the first runner that responded in each runner pool, by the pool's name; null if none
 * has responded yet. A runner without containers is listed as `this machine`.
 */
export type RunnerHealthByPool = Map<string, RunnerHealth | null>

/**
 * Records the health of the first runner that responds in each pool, because containers stop soon
 * after their tasks.
 */
export function recordFirstHealthOfPools(
  runners: RunnerHealthByPool,
  { runner, pools }: OperatorHealth,
): void {
  if (runner !== null) {
    if (runner !== "unreachable") runners.set("this machine", runner)
    return
  }
  for (const { name, containers } of pools) {
    const found = containers.find(({ health }) => health !== null)?.health
    runners.set(name, runners.get(name) ?? found ?? null)
  }
}

/** Describes the kernel, sandbox and ffmpeg of a runner in one line. */
export function describeRunnerHealth(runner: RunnerHealth | null): string {
  if (runner === null) return "no running container was found"
  const { kernel, sandbox, ffmpeg } = runner
  const offers = kernel
    ? `Linux ${kernel.release}, ${describeLandlock(kernel.landlock_abi)}, seccomp ${sayWhether(kernel.seccomp)}, bubblewrap ${sayWhether(kernel.bubblewrap)}, namespaces ${sayWhether(kernel.namespaces)}`
    : "an unknown kernel"
  const tier = sandbox.ok
    ? `tier ${sandbox.tier ?? "unknown"}${describeAttacks(sandbox)}`
    : "no sandbox"
  const lacks = [sandbox.problem, sandbox.loss, sandbox.network_problem].filter(
    (each) => each !== null,
  )
  return [`${offers}; ${tier}; ffmpeg ${ffmpeg ?? "unknown"}`, ...lacks].join(". ")
}

function describeAttacks({ attacks, network_attacks }: RunnerHealth["sandbox"]): string {
  const tried = [...(attacks ?? []), ...(network_attacks ?? [])]
  const refused = tried.filter((each) => each.refused)
  return tried.length > 0 ? `, ${refused.length} of ${tried.length} attacks refused` : ""
}

function sayWhether(has: boolean | undefined): string {
  if (has === undefined) return "unknown"
  return has ? "yes" : "no"
}

function describeLandlock(abi: number): string {
  return abi > 0 ? `Landlock ABI ${abi}` : "no Landlock"
}
