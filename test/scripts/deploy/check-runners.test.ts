import { expect, test } from "vitest"
import {
  describeRunnerHealth,
  recordFirstHealthOfPools,
  operatorHealthSchema,
} from "../../../scripts/deploy/live-check/operator-health.ts"
import type { RunnerHealthByPool } from "../../../scripts/deploy/live-check/operator-health.ts"

const RUNNER = {
  ffmpeg: "7.1.5",
  kernel: { release: "6.12.1", landlock_abi: 4, seccomp: true, bubblewrap: true, namespaces: true },
  sandbox: {
    tier: "namespaces",
    ok: true,
    supported: true,
    problem: null,
    loss: null,
    attacks: [
      { name: "tcp", refused: true },
      { name: "fork", refused: false },
    ],
    network_attacks: [{ name: "tcp", refused: true }],
    network_problem: null,
  },
}

/** The health of a deployment of which these runners run, by their pools. */
function healthWith(runners: Record<string, object>) {
  const pools = ["media", "light"].map((name) => ({
    name,
    used: 0,
    waiting_accounts: 0,
    containers: runners[name]
      ? [{ slot: `${name}-0`, running: true, problem: null, health: runners[name] }]
      : [],
  }))
  return operatorHealthSchema.parse({ reasons: [], runner: null, pools })
}

test("the runner of each pool is remembered once seen, and its kernel is reported", () => {
  const seen: RunnerHealthByPool = new Map()
  recordFirstHealthOfPools(seen, healthWith({ media: RUNNER }))
  recordFirstHealthOfPools(seen, healthWith({}))
  expect([...seen].map(([pool, runner]) => `${pool}: ${describeRunnerHealth(runner)}`)).toEqual([
    "media: Linux 6.12.1, Landlock ABI 4, seccomp yes, bubblewrap yes, namespaces yes; tier namespaces, 2 of 3 attacks refused; ffmpeg 7.1.5",
    "light: no running container was found",
  ])
})

test("a missing or incomplete sandbox is reported", () => {
  const { sandbox } = RUNNER
  const kernel = { ...RUNNER.kernel, landlock_abi: 0 }
  const none = {
    ...RUNNER,
    kernel,
    sandbox: { ...sandbox, ok: false, problem: "no Landlock here" },
  }
  const seen: RunnerHealthByPool = new Map()
  const light = { ...RUNNER, sandbox: { ...sandbox, tier: "landlock", loss: "No namespaces." } }
  recordFirstHealthOfPools(seen, healthWith({ media: none, light }))
  expect(describeRunnerHealth(seen.get("media") ?? null)).toContain("no Landlock, seccomp yes")
  expect(describeRunnerHealth(seen.get("media") ?? null)).toContain(
    "no sandbox; ffmpeg 7.1.5. no Landlock here",
  )
  expect(describeRunnerHealth(seen.get("light") ?? null)).toContain("tier landlock")
  expect(describeRunnerHealth(seen.get("light") ?? null)).toContain("No namespaces.")
})
