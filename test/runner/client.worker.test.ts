import { env } from "cloudflare:workers"
import { runInDurableObject } from "cloudflare:test"
import { beforeEach, describe, expect, it, vi } from "vitest"
import { PROTOCOL_HEADER, PROTOCOL_VERSION } from "../../src/contract/protocol.ts"
import { MediaRunner } from "../../src/index.ts"
import { newId } from "../../src/platform/ids.ts"
import {
  chooseIdleContainerAction,
  createContainerState,
} from "../../src/runner/container-state.ts"
import type { StoredContainerState } from "../../src/runner/container-state.ts"
import { makeTaskToken } from "../../src/runner/task-token.ts"
import { fetchWorker, makeCaller, uploadTestFile } from "../support/caller.ts"

type TaskRow = { id: string; account_id: string; fence: number }

const DAY_MS = 24 * 3600 * 1000
const run = { accountId: "a", jobId: "j", taskId: "t", fence: 1 }

describe("the stored state of a container", () => {
  let object: DurableObjectStub

  beforeEach(() => {
    // Any object with storage serves, because there are no containers here.
    object = env.POOL.getByName(crypto.randomUUID())
  })

  function remember<Value>(look: (memory: StoredContainerState) => Value): Promise<Value> {
    return runInDurableObject(object, (_, { storage }) => look(createContainerState(storage.kv)))
  }

  it("refuses calls under a lower allocation, also after a restart", async () => {
    expect(await remember((memory) => memory.admits(7))).toBe(true)
    expect(await remember((memory) => memory.admits(7))).toBe(true)
    expect(await remember((memory) => memory.admits(6))).toBe(false)
    expect(await remember((memory) => memory.admits(8))).toBe(true)
    expect(await remember((memory) => memory.admits(7))).toBe(false)
  })

  it("refuses an allocation days in the future, and forgets one from a wrong clock", async () => {
    const [now, later] = [Date.now(), Date.now() + 2 * DAY_MS]
    expect(await remember((memory) => memory.admits(later))).toBe(false)
    expect(await remember((memory) => memory.admits(now))).toBe(true)
    expect(await remember((memory) => memory.admits(now + DAY_MS / 2))).toBe(true)
    await runInDurableObject(object, (_, { storage }) => storage.kv.put("grant", later))
    expect(await remember((memory) => memory.admits(now))).toBe(true)
    expect(await remember((memory) => memory.admits(now - 1))).toBe(false)
  })

  it("keeps the token of a container until the next one starts", async () => {
    expect(await remember((memory) => memory.token())).toBeNull()
    const token = await remember((memory) => memory.makeToken())
    expect(token).toMatch(/^[0-9a-f]{64}$/)
    await remember((memory) => memory.forgetProcess())
    expect(await remember((memory) => memory.token())).toBe(token)
    expect(await remember((memory) => memory.makeToken())).not.toBe(token)
    expect(await remember((memory) => memory.token())).not.toBe(token)
  })

  it("returns once which process stopped with its container", async () => {
    expect(await remember((memory) => memory.forgetProcess())).toBeNull()
    await remember((memory) => {
      memory.noteHanded({ slot: "media-0", run })
      memory.noteBoot("boot")
    })
    expect(await remember((memory) => memory.forgetProcess())).toEqual({
      slot: "media-0",
      boot: "boot",
    })
    expect(await remember((memory) => [memory.forgetProcess(), memory.run()])).toEqual([null, null])
  })

  it("forgets a run that ended, and keeps the run after it", async () => {
    await remember((memory) => {
      memory.noteHanded({ slot: "media-0", run: { ...run, fence: 2 } })
      memory.forgetRun(run)
      expect(memory.run()).toMatchObject({ fence: 2 })
      memory.forgetRun({ ...run, fence: 2 })
      expect(memory.run()).toBeNull()
      memory.noteHanded({ slot: "media-0", run: { ...run, fence: 3 } })
      expect(memory.run()).toMatchObject({ fence: 3 })
    })
    // D1 decides whether it still runs.
    expect(await remember((memory) => memory.run())).toMatchObject({ fence: 3 })
  })

  it("drops the stop request of a container that gets a task", async () => {
    await remember((memory) => {
      memory.noteStopping()
      expect(memory.isStopping()).toBe(true)
      memory.noteHanded({ slot: "media-0", run })
      expect(memory.isStopping()).toBe(false)
    })
  })
})

describe("a container without calls for its idle time", () => {
  it.for([
    [{ holdsLease: true, isStopping: false }, "keep"],
    [{ holdsLease: true, isStopping: true }, "keep"],
    [{ holdsLease: false, isStopping: false }, "stop"],
    [{ holdsLease: false, isStopping: true }, "destroy"],
  ] as const)("%o: %s", ([facts, verdict]) => {
    expect(chooseIdleContainerAction(facts)).toBe(verdict)
  })
})

describe("the I/O routes", () => {
  /** Starts the task of an upload's probe; returns it with the token of its runner. */
  async function startTask() {
    const caller = await makeCaller(`io-${crypto.randomUUID()}`)
    const file = await uploadTestFile(caller, "in.mp4", "reads of a runner")
    const sql = "select id, account_id, fence from tasks where job_id = ? and state = 'running'"
    const task = await vi.waitFor(async () => {
      const row = await env.DB.prepare(sql).bind(file.id).first<TaskRow>()
      if (!row) throw new Error("it does not run yet")
      return row
    }, 20_000)
    const { id: taskId, account_id: accountId, fence } = task
    const token = await makeTaskToken(env.LATHE_SECRET ?? "", {
      accountId,
      jobId: file.id,
      taskId,
      fence,
    })
    return { taskId, token }
  }

  function askAsContainer(request: Request): Promise<Response> {
    const answer = MediaRunner.outboundByHost?.["worker.internal"]
    const container = {
      containerId: env.MEDIA_RUNNER.newUniqueId().toString(),
      className: "MediaRunner",
    }
    if (!answer) throw new Error("nothing answers worker.internal")
    return Promise.resolve(answer(request, env, container))
  }

  function askAsPlain({ method, headers, url }: Request): Promise<Response> {
    return fetchWorker(new URL(url).pathname, { method, headers })
  }

  async function factsOf(answer: Response) {
    return { status: answer.status, body: await answer.text() }
  }

  it("serve a container and a plain runner alike", async () => {
    const { taskId, token } = await startTask()
    const own = `/io/${taskId}`
    const cases: [string, string, string, number][] = [
      ["GET", `${own}/inputs/file`, token, 200],
      ["GET", `${own}/inputs/file`, "", 401],
      ["GET", `${own}/inputs/other`, token, 410],
      ["GET", `/io/${newId()}/inputs/file`, token, 401],
      ["POST", `${own}/reports`, token, 400],
      ["POST", `${own}/nothing`, token, 404],
    ]
    for (const [method, path, bearer, status] of cases) {
      const request = new Request(`http://worker.internal${path}`, {
        method,
        headers: { [PROTOCOL_HEADER]: PROTOCOL_VERSION, authorization: `Bearer ${bearer}` },
      })
      const [inside, outside] = [await askAsContainer(request.clone()), await askAsPlain(request)]
      const facts = await factsOf(inside)
      expect({ path, status: facts.status }).toEqual({ path, status })
      expect(await factsOf(outside)).toEqual(facts)
    }
  })
})
