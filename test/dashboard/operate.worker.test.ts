import { createExecutionContext, createMessageBatch, waitOnExecutionContext } from "cloudflare:test"
import { env } from "cloudflare:workers"
import { beforeAll, describe, expect, it } from "vitest"
import { newId } from "../../src/platform/ids.ts"
import { sweepDirectly } from "../support/sweep.ts"
import { consumeQueueMessages } from "../../src/queues.ts"
import { openDirectory } from "../../src/db/database.ts"
import {
  countDeadLetters,
  deleteOldDeadLetters,
  findDeadLetter,
  insertDeadLetters,
} from "../../src/db/dead-letters.ts"
import { makeQueuedJob } from "../support/db/queued-job.ts"
import { makeSignedInUser } from "../support/accounts/signed-in.ts"
import type { SignedInCaller } from "../support/accounts/signed-in.ts"

const DAY_MS = 24 * 3_600_000
const database = openDirectory(env)

let operator: SignedInCaller

beforeAll(async () => {
  operator = await makeSignedInUser({ isOperator: true })
})

async function giveUp(queue: string, body: unknown): Promise<string> {
  const id = newId()
  const ctx = createExecutionContext()
  const messages = [{ id, timestamp: new Date(), attempts: 1, body }]
  await consumeQueueMessages(createMessageBatch(queue, messages), env, ctx)
  await waitOnExecutionContext(ctx)
  return id
}

async function read(path: string): Promise<string> {
  return await (await operator.visit(path)).text()
}

describe.each(["/operate/dead-letters", "/operate/health"])("%s", (path) => {
  it("returns 404 to other users", async () => {
    const person = await makeSignedInUser()
    expect((await person.visit(path)).status).toBe(404)
  })

  it("is visible to an operator", async () => {
    expect((await operator.visit(path)).status).toBe(200)
  })
})

describe("a dead letter", () => {
  it("is listed with the state of its job until it is dismissed", async () => {
    const { jobId, message, accountId } = await makeJob()
    const id = await giveUp("lathe-jobs-dead", { accountId, tasks: [message] })
    expect(await read("/operate/dead-letters")).toContain(`href="/operate/dead-letters/${id}"`)
    const page = await read(`/operate/dead-letters/${id}`)
    expect(page).toContain("lathe-jobs-dead")
    expect(page).toContain(`href="/operate/accounts/${accountId}"`)
    expect(page).toContain(jobId)
    expect(page).toContain("waiting")
    const answer = await operator.submit(`/operate/dead-letters/${id}/dismiss`)
    expect([answer.status, answer.headers.get("location")]).toEqual([303, "/operate/dead-letters"])
    expect((await operator.visit(`/operate/dead-letters/${id}`)).status).toBe(404)
    expect(await read("/operate/dead-letters")).not.toContain(id)
  })

  it("is stored without secrets, within the limit of a row", async () => {
    const key = "lathe_0aZ9bY8cX7dW6eV5fU4gT3hS2iR1jQ0kP9lO8mN7"
    const id = await giveUp("lathe-webhooks-dead", {
      url: "https://me:hunter2@example.com/x?y=z",
      cookie: "a=b",
      key,
      long: "y".repeat(20_000),
    })
    const text = JSON.stringify(await findDeadLetter(database, id))
    expect(text).not.toMatch(/hunter2|a=b|y=z|lathe_0aZ9/)
    expect(text.length).toBeLessThan(17_000)
    expect(await read(`/operate/dead-letters/${id}`)).toContain("Unknown subject")
  })

  it("is stored once, although it arrives twice", async () => {
    const before = await countDeadLetters(database)
    const letter = { id: newId(), queue: "lathe-jobs-dead", body: {}, receivedAt: Date.now() }
    await insertDeadLetters(database, [letter])
    await insertDeadLetters(database, [letter])
    expect(await countDeadLetters(database)).toBe(before + 1)
  })

  it("can be dismissed by operators only", async () => {
    const id = await giveUp("lathe-jobs-dead", {})
    const person = await makeSignedInUser()
    expect((await person.submit(`/operate/dead-letters/${id}/dismiss`)).status).toBe(404)
    expect(await findDeadLetter(database, id)).not.toBeNull()
  })

  it("is deleted by the sweep after 30 days", async () => {
    const now = Date.now()
    const [old, young] = [newId(), newId()]
    const letter = { queue: "lathe-jobs-dead", body: {} }
    await insertDeadLetters(database, [
      { ...letter, id: old, receivedAt: now - 31 * DAY_MS },
      { ...letter, id: young, receivedAt: now - 29 * DAY_MS },
    ])
    await sweepDirectly(env, now)
    expect(await findDeadLetter(database, old)).toBeNull()
    expect(await findDeadLetter(database, young)).not.toBeNull()
  })

  it("is deleted after a thousand later ones", async () => {
    const oldest = newId()
    const letter = { queue: "lathe-jobs-dead", body: {} }
    const others = Array.from({ length: 1000 }, () => ({
      ...letter,
      id: newId(),
      receivedAt: 2000,
    }))
    await insertDeadLetters(database, [{ ...letter, id: oldest, receivedAt: 1000 }, ...others])
    await deleteOldDeadLetters(database, 0)
    expect(await countDeadLetters(database)).toBe(1000)
    expect(await findDeadLetter(database, oldest)).toBeNull()
  })
})

describe("the page of the service's health", () => {
  it("explains each problem and its remedy in sentences", async () => {
    const { accountId } = await makeJob()
    expect(accountId).not.toBe("")
    const page = await read("/operate/health")
    expect(page).toContain("The runner does not answer, so jobs wait.")
    expect(page).toContain("Open tasks by pool")
    expect(page).toMatch(/>media<\/td>/)
    expect(page).not.toContain("undefined")
  })
})

async function makeJob() {
  const accountId = newId()
  return { accountId, ...(await makeQueuedJob(accountId)) }
}
