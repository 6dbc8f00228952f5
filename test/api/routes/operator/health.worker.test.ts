import { env } from "cloudflare:workers"
import { expect, it } from "vitest"
import { readContainersOfPool } from "../../../../src/upkeep/inspect-containers.ts"
import type { ContainerState } from "../../../../src/bindings/rpc.ts"
import { fetchWorker, fetchOperatorRoute } from "../../../support/caller.ts"
import { makeEnvWithSettings } from "../../../support/runner/faked-container.ts"

const HEALTH = {
  ffmpeg: "7.1.5",
  kernel: { release: "6.12.1", landlock_abi: 4, seccomp: true, bubblewrap: true },
  sandbox: {
    tier: "landlock",
    ok: true,
    supported: true,
    problem: null,
    loss: null,
    network_problem: null,
  },
}

it("the operator's health needs the operator's token and shows the runners", async () => {
  expect((await fetchWorker("/operator/health")).status).toBe(401)
  const answer = await fetchOperatorRoute("/health")
  expect(answer.status).toBe(200)
  const idle = { slots: 2, used: 0, waiting_accounts: 0, containers: [] }
  expect(await answer.json()).toEqual({
    // No runner listens in these tests.
    reasons: ["runner_unreachable"],
    runner: "unreachable",
    pools: ["media", "light", "fetch", "lookup", "speech"].map((name) => ({ name, ...idle })),
    tasks: [],
    webhooks: { waiting: 0, due: 0, failed: 0 },
    dead_letters: 0,
  })
})

it("a pool lists its containers that run or failed to start, with their runners' health", async () => {
  const states: Record<string, ContainerState> = {
    "media-0": {
      isRunning: true,
      problem: null,
      health: { status: 200, text: JSON.stringify(HEALTH) },
    },
    "media-1": { isRunning: false, problem: "there is no container instance", health: null },
    "media-2": { isRunning: false, problem: null, health: null },
    "media-3": { isRunning: true, problem: null, health: { status: 503, text: "no answer" } },
  }
  const slots = [...Object.keys(states), "media-4"]
  const containers = makeEnvWithSettings({
    RUNNER_ORIGIN: undefined,
    POOL: { getByName: () => ({ occupiedSlots: async () => slots }) },
    MEDIA_RUNNER: {
      getByName: (slot: string) => ({
        async inspect() {
          const state = states[slot]
          if (!state) throw new Error("its object does not answer")
          return state
        },
      }),
    },
  })
  expect(await readContainersOfPool(containers, "media")).toEqual([
    { slot: "media-0", isRunning: true, problem: null, health: HEALTH },
    { slot: "media-1", isRunning: false, problem: "there is no container instance", health: null },
    { slot: "media-3", isRunning: true, problem: "no answer", health: null },
    {
      slot: "media-4",
      isRunning: false,
      problem: "Error: its object does not answer",
      health: null,
    },
  ])
})

it("a pool names the slots whose containers may run", async () => {
  const pool = env.POOL.getByName("media")
  expect(await pool.occupiedSlots()).toEqual([])
  const request = { accountId: "a", number: 1, wanted: 1, inUse: [], released: [] }
  const [given] = (await pool.requestSlots("media", request)) ?? []
  expect(await pool.occupiedSlots()).toEqual([given?.slot])
  const released = { ...request, number: 2, wanted: 0, released: [given?.id ?? 0] }
  await pool.requestSlots("media", released)
  // The container waits for the next task of its account.
  expect(await pool.occupiedSlots()).toEqual([given?.slot])
})
