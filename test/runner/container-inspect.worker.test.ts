import { runInDurableObject } from "cloudflare:test"
import { env } from "cloudflare:workers"
import { expect, it } from "vitest"
import { MediaRunner } from "../../src/index.ts"
import {
  makeFakedContainer,
  setFakedContainer,
  makeProbeOrder,
  makeEnvWithSettings,
} from "../support/runner/faked-container.ts"

const REFUSED = "there is no container instance that can be provided to this Durable Object"

it("the object of a container returns whether it runs, why a start failed, and its runner's health", async () => {
  const container = makeFakedContainer()
  const object = env.POOL.getByName(crypto.randomUUID())
  await runInDurableObject(object, async (_, ctx) => {
    setFakedContainer(ctx, container)
    const runner = new MediaRunner(ctx, makeEnvWithSettings({}))
    expect(await runner.inspect()).toEqual({ isRunning: false, problem: null, health: null })
    expect(container.tokens).toEqual([])

    container.startProblem = REFUSED
    const order = await makeProbeOrder()
    expect(await runner.post(order)).toMatchObject({ status: 503 })
    const { isRunning, problem } = await runner.inspect()
    expect({ isRunning, problem }).toEqual({
      isRunning: false,
      problem: expect.stringContaining(REFUSED),
    })

    container.startProblem = null
    // A refused start is not tried again for a second.
    await expect.poll(() => runner.post(order)).toMatchObject({ status: 202 })
    expect(await runner.inspect()).toEqual({
      isRunning: true,
      problem: null,
      health: { status: 200, text: '{"status":"ok"}' },
    })
  })
})
