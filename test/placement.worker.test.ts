import { env } from "cloudflare:workers"
import { describe, expect, it } from "vitest"
import { dispatcherOf, limiterOf, placeOf, poolObjectOf } from "../src/placement.ts"
import { deleteTask } from "../src/runner/client.ts"

/** The environment with namespaces that note what they are asked for. */
function watched(more: object) {
  const asked: unknown[] = []
  const namespace = {
    getByName(...given: unknown[]) {
      asked.push(given)
      return { kill: async () => ({ status: 200, text: "" }) }
    },
  }
  const names = ["DISPATCHER", "POOL", "RATE_LIMITER", "MEDIA_RUNNER"]
  const bindings = Object.fromEntries(names.map((name) => [name, namespace]))
  return { asked, env: { ...env, ...bindings, ...more } }
}

describe("objects", () => {
  it("are made in the region of the settings, and in no region where they name none", () => {
    const near = watched({ REGION: "oc" })
    const anywhere = watched({})
    for (const { env: where } of [near, anywhere]) {
      dispatcherOf(where, "account")
      poolObjectOf(where, "media")
      limiterOf(where, "hash")
    }
    const names = ["account", "media", "hash"]
    expect(near.asked).toEqual(names.map((name) => [name, { locationHint: "oc" }]))
    expect(anywhere.asked).toEqual(names.map((name) => [name, {}]))
  })

  it("that are containers, too", async () => {
    const near = watched({ REGION: "oc", RUNNER_ORIGIN: undefined })
    await deleteTask(near.env, { slot: "media-1", taskId: "task", fence: 1 })
    expect(near.asked).toEqual([["media-1", { locationHint: "oc" }]])
  })

  it("have no place that is not one", () => {
    expect(() => placeOf(watched({ REGION: "mars" }).env)).toThrow("expected one of wnam")
  })
})
