import { env } from "cloudflare:workers"
import { describe, expect, it } from "vitest"
import {
  getDispatcher,
  getRateLimiter,
  makeDurableObjectLocationOptions,
  getPoolObject,
} from "../../src/bindings/durable-objects.ts"
import { killTask } from "../../src/runner/client.ts"

/** Returns an environment whose namespaces record their calls. */
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

describe("Durable Objects", () => {
  it("have the region of the settings as their location hint, and none by default", () => {
    const near = watched({ REGION: "oc" })
    const anywhere = watched({})
    for (const { env: where } of [near, anywhere]) {
      getDispatcher(where, "account")
      getPoolObject(where, "media")
      getRateLimiter(where, "hash")
    }
    const names = ["account", "media", "hash"]
    expect(near.asked).toEqual(names.map((name) => [name, { locationHint: "oc" }]))
    expect(anywhere.asked).toEqual(names.map((name) => [name, {}]))
  })

  it("have it as containers, too", async () => {
    const near = watched({ REGION: "oc", RUNNER_ORIGIN: undefined })
    await killTask(near.env, { slot: "media-1", taskId: "task", fence: 1 })
    expect(near.asked).toEqual([["media-1", { locationHint: "oc" }]])
  })

  it("refuse an unknown region", () => {
    expect(() => makeDurableObjectLocationOptions(watched({ REGION: "mars" }).env)).toThrow(
      "expected one of wnam",
    )
  })
})
