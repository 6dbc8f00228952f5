import { afterEach, beforeEach, describe, expect, test } from "vitest"
import {
  RUNNER_BOOT_ID_HEADER,
  PROTOCOL_HEADER,
  PROTOCOL_VERSION,
} from "../../src/contract/protocol.ts"
import { taskAcceptedResponseSchema } from "../../src/contract/task.ts"
import type { TaskOrder } from "../../src/contract/task.ts"

/** Runner under test, without tasks and with room for two. */
export type RunnerUnderTest = {
  /** Sends a request without changes; `path` begins with a slash. */
  fetch(path: string, init?: RequestInit): Promise<Response>
  /** Bearer token that the runner requires. */
  token: string
  boot: string
  /** Returns a valid order of a new task whose work does not end by itself. */
  order(differing?: Partial<TaskOrder>): TaskOrder
  close(): Promise<void>
}

const DAY_MS = 24 * 3600 * 1000

/** Registers the tests of the runner's side of the protocol, in the caller's `describe`. */
export function testRunnerProtocol(open: () => Promise<RunnerUnderTest>): void {
  let runner: RunnerUnderTest

  beforeEach(async () => {
    runner = await open()
  })

  afterEach(() => runner.close())

  function call(method: string, path: string, body?: unknown): Promise<Response> {
    const headers = {
      authorization: `Bearer ${runner.token}`,
      [PROTOCOL_HEADER]: PROTOCOL_VERSION,
    }
    return runner.fetch(path, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
  }

  async function post(order: unknown): Promise<{ status: number; body: unknown }> {
    const response = await call("POST", "/tasks", order)
    return { status: response.status, body: await response.json() }
  }

  async function accept(differing: Partial<TaskOrder> = {}): Promise<TaskOrder> {
    const order = runner.order(differing)
    expect(await post(order)).toEqual({ status: 202, body: { boot: runner.boot } })
    return order
  }

  async function show(taskId: string): Promise<unknown> {
    return await (await call("GET", `/tasks/${taskId}`)).json()
  }

  describe("every route", () => {
    const routes = [
      ["POST", "/tasks"],
      ["GET", "/tasks/00000000-0000-4000-8000-000000000000"],
      ["DELETE", "/tasks/00000000-0000-4000-8000-000000000000?fence=1"],
      ["GET", "/health"],
    ] as const

    test.for(routes)("refuses %s %s without the token", async ([method, path]) => {
      const authorizations = [undefined, runner.token, `Bearer ${runner.token}x`, "Bearer "]
      for (const authorization of authorizations) {
        const response = await runner.fetch(path, {
          method,
          headers: {
            [PROTOCOL_HEADER]: PROTOCOL_VERSION,
            ...(authorization !== undefined && { authorization }),
          },
          ...(method === "POST" && { body: JSON.stringify(runner.order()) }),
        })
        expect([response.status, await response.json()]).toEqual([401, { error: "token" }])
      }
    })

    test.for(routes)("refuses %s %s in another version of the protocol", async (route) => {
      const [method, path] = route
      for (const version of [undefined, "0"]) {
        const response = await runner.fetch(path, {
          method,
          headers: {
            authorization: `Bearer ${runner.token}`,
            ...(version !== undefined && { [PROTOCOL_HEADER]: version }),
          },
        })
        expect(response.status).toBe(426)
        expect(await response.json()).toEqual({ error: expect.stringContaining("version") })
      }
    })

    test.for(routes)("returns its boot id and its version for %s %s", async ([method, path]) => {
      const { headers } = await call(method, path, method === "POST" ? {} : undefined)
      expect(headers.get(RUNNER_BOOT_ID_HEADER)).toBe(runner.boot)
      expect(headers.get(PROTOCOL_HEADER)).toBe(PROTOCOL_VERSION)
    })
  })

  describe("POST /tasks", () => {
    test("accepts an order and names its process", async () => {
      const { status, body } = await post(runner.order())
      expect(status).toBe(202)
      expect(taskAcceptedResponseSchema.parse(body)).toEqual({ boot: runner.boot })
    })

    test("accepts a repeat of an order without starting it again", async () => {
      const order = await accept()
      expect((await post(order)).status).toBe(202)
      const health = await call("GET", "/health")
      expect(await health.json()).toMatchObject({ running: 1 })
    })

    test("replaces a lower fence by a higher one, and refuses a lower one", async () => {
      const order = await accept({ fence: 2 })
      const lower = await post({ ...order, fence: 1 })
      expect(lower).toEqual({ status: 409, body: { error: "stale" } })
      expect(await show(order.task_id)).toMatchObject({ fence: 2 })
      expect((await post({ ...order, fence: 3 })).status).toBe(202)
      expect(await show(order.task_id)).toMatchObject({ fence: 3, state: "running" })
      const health = await call("GET", "/health")
      expect(await health.json()).toMatchObject({ running: 1 })
    })

    test("refuses an allocation below the highest of its slot", async () => {
      await accept({ slot: "slot-1", allocation: 7 })
      const stale = await post(runner.order({ slot: "slot-1", allocation: 6 }))
      expect(stale).toEqual({ status: 409, body: { error: "stale" } })
      expect((await post(runner.order({ slot: "slot-2", allocation: 6 }))).status).toBe(202)
    })

    test("refuses an allocation from the far future, which makes no later one stale", async () => {
      const slot = "slot-1"
      const far = await post(runner.order({ slot, allocation: Date.now() + 2 * DAY_MS }))
      expect(far).toEqual({ status: 409, body: { error: "implausible" } })
      await accept({ slot, allocation: Date.now() })
      // The clocks of a pool and of its runner may differ.
      await accept({ slot, allocation: Date.now() + DAY_MS / 2 })
    })

    test("refuses a task more than it has room for", async () => {
      await accept()
      const order = await accept()
      expect(await post(runner.order())).toEqual({ status: 409, body: { error: "busy" } })
      await call("DELETE", `/tasks/${order.task_id}?fence=1`)
      expect((await post(runner.order())).status).toBe(202)
    })

    test.for<[string, (order: TaskOrder) => unknown, string]>([
      ["no order", () => ({ task_id: "none" }), "task_id"],
      ["work of an unknown kind", (order) => ({ ...order, work: { kind: "nosuch" } }), "nosuch"],
      ["work without a kind", (order) => ({ ...order, work: {} }), "kind"],
      [
        "work that is invalid for its kind",
        (order) => ({ ...order, work: { ...order.work, kind: "command", commands: "-i x" } }),
        "commands",
      ],
    ])("refuses %s with a sentence", async ([, change, expected]) => {
      const { status, body } = await post(change(runner.order()))
      expect(status).toBe(400)
      expect(body).toEqual({ error: expect.stringContaining(expected) })
    })

    test("refuses a body that is not JSON", async () => {
      const headers = {
        authorization: `Bearer ${runner.token}`,
        [PROTOCOL_HEADER]: PROTOCOL_VERSION,
      }
      const response = await runner.fetch("/tasks", { method: "POST", headers, body: "{" })
      expect(response.status).toBe(400)
    })
  })

  describe("GET /tasks/{id}", () => {
    test("shows a task by its fence and its state", async () => {
      const order = await accept({ fence: 4 })
      const expected = { task_id: order.task_id, fence: 4, state: "running" }
      expect(await show(order.task_id)).toMatchObject(expected)
    })

    test("returns 404 for an unknown task", async () => {
      expect((await call("GET", `/tasks/${crypto.randomUUID()}`)).status).toBe(404)
    })
  })

  describe("DELETE /tasks/{id}?fence={n}", () => {
    test("ends a run at its fence before it answers, and only once", async () => {
      const { task_id: id } = await accept()
      const killed = await call("DELETE", `/tasks/${id}?fence=1`)
      expect([killed.status, await killed.json()]).toEqual([200, { killed: true }])
      expect(await show(id)).toMatchObject({ state: "done" })
      const again = await call("DELETE", `/tasks/${id}?fence=1`)
      expect([again.status, await again.json()]).toEqual([200, { killed: false }])
    })

    test("ends a run at a higher fence, and not at a lower one", async () => {
      const { task_id: id } = await accept({ fence: 5 })
      const lower = await call("DELETE", `/tasks/${id}?fence=4`)
      expect(await lower.json()).toEqual({ killed: false })
      expect(await show(id)).toMatchObject({ state: "running" })
      const higher = await call("DELETE", `/tasks/${id}?fence=6`)
      expect(await higher.json()).toEqual({ killed: true })
    })

    test("ends no run of an unknown task", async () => {
      const response = await call("DELETE", `/tasks/${crypto.randomUUID()}?fence=1`)
      expect([response.status, await response.json()]).toEqual([200, { killed: false }])
    })

    test.for(["", "?fence=0", "?fence=x"])("refuses the query %j", async (query) => {
      const { task_id: id } = await accept()
      expect((await call("DELETE", `/tasks/${id}${query}`)).status).toBe(400)
      expect(await show(id)).toMatchObject({ state: "running" })
    })
  })

  test("GET /health returns its process, its free slots, its tools and its sandbox", async () => {
    await accept()
    const response = await call("GET", "/health")
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({
      status: "ok",
      boot: runner.boot,
      capacity: 2,
      running: 1,
      ffmpeg: expect.any(String),
      ffprobe: expect.any(String),
      sandbox: { ok: true },
    })
  })

  test("any other route returns 404", async () => {
    expect((await call("GET", "/nothing")).status).toBe(404)
  })
}
