import { spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { text } from "node:stream/consumers"
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest"
import { z } from "zod"
import { findRunner } from "../../faults/processes.ts"
import { startTestSite } from "../../support/site/site.ts"
import { explainMissingSpeechTools } from "../../support/media/speech.ts"
import { wideTest } from "../../support/wide-test.ts"
import { accountsLeft, linesOf, openCheckStage, report } from "./check-stage.ts"
import type { Answer, CheckStage } from "./check-stage.ts"
import { startService } from "../service.ts"

const STEPS = ["upload", "command", "webhook", "normalize", "transcode", "transcribe"]
const NO_SPEECH = await explainMissingSpeechTools()

it.skipIf(NO_SPEECH !== null)("a check of a healthy service passes every step", async () => {
  await using site = await startTestSite()
  await using service = await startService({
    // The port of a service that is to be its own receiver is not known before its start.
    ALLOWED_PRIVATE_HOSTS: `127.0.0.1,${site.host}`,
  })
  const checked = await report(service.operator, { checkUrl: site.url("/page/json-ld") })
  for (const step of [...STEPS, "fetch", "lookup"])
    expect(linesOf(checked, step)).toContain(" ok, ")
  expect(checked.ended).toBeNull()
  expect(linesOf(checked, "webhook")).toContain("it arrived with its nonce")
  expect(linesOf(checked, "transcribe")).toContain("no_speech")
  expect(linesOf(checked, "lookup")).toContain("looked up: ")
  const runner = linesOf(checked, "runner")
  expect(runner).toMatch(
    /Linux \d+\.\d+.*Landlock ABI \d+, seccomp yes.*tier (namespaces|mounts|landlock), (4\d) of \2 attacks refused/,
  )
  expect(checked.lines.at(-1)).toBe("Check: 8 of 8 steps passed.")
  expect(await accountsLeft(service.operator)).toEqual([])
})

wideTest("a check names the steps that it skipped, and how to enable them", async () => {
  await using service = await startService()
  const checked = await report(service.operator)
  const { host } = new URL(service.origin)
  expect(checked.ended).toBeNull()
  expect(linesOf(checked, "webhook")).toContain("unchecked")
  expect(linesOf(checked, "webhook")).toContain(`ALLOWED_PRIVATE_HOSTS=${host}`)
  expect(linesOf(checked, "fetch")).toContain("CHECK_URL names no media to fetch")
  expect(checked.lines.at(-1)).toContain("unchecked: webhook, fetch, lookup.")
})

describe("a check names the part of the platform that", () => {
  let stage: CheckStage

  beforeAll(async () => {
    stage = await openCheckStage()
  })
  beforeEach(() => {
    stage.tamper = () => null
  })
  afterAll(async () => await stage[Symbol.asyncDispose]())

  it("keeps webhooks from their receiver", async () => {
    stage.tamper = (path) =>
      path.startsWith("/operator/webhook-checks/") ? page(403, "<h1>Access</h1>") : null
    const checked = await report(stage.operator)
    expect(linesOf(checked, "webhook")).toContain("failed")
    expect(linesOf(checked, "webhook")).toContain("its first try failed: the receiver answered 403")
    expect(linesOf(checked, "webhook")).toContain("Likely cause: Access, a firewall rule")
    expect(checked.ended).toContain("webhook failed")
    expect(await accountsLeft(stage.operator)).toEqual([])
  })

  wideTest("answers webhooks in the place of the service", async () => {
    stage.tamper = (path) => (path.startsWith("/operator/webhook-checks/") ? page(200, "ok") : null)
    const checked = await report(stage.operator)
    expect(linesOf(checked, "webhook")).toContain("another server answered it with 200: ok")
    expect(linesOf(checked, "webhook")).toContain("Likely cause: PUBLIC_ORIGIN")
  })

  it("cuts outputs, and skips the steps that need them", async () => {
    stage.tamper = (path, pass) => (path.startsWith("/media/") ? cut(pass) : null)
    const checked = await report(stage.operator)
    expect(linesOf(checked, "command")).toMatch(/failed.* bytes of an output of \d+ were returned/)
    expect(linesOf(checked, "command")).toContain("Likely cause: media that were cut")
    expect(linesOf(checked, "transcode")).toContain("unchecked")
    expect(checked.ended).toContain("command, normalize failed; unchecked: webhook, transcode")
  })

  wideTest("changes outputs of the right size", async () => {
    stage.tamper = (path, pass) => (path.startsWith("/media/") ? overwrite(pass) : null)
    const checked = await report(stage.operator)
    expect(linesOf(checked, "command")).toContain("its first box is not ftyp")
    expect(linesOf(checked, "normalize")).toContain("it is no WAV")
  })

  it("refuses a body before the Worker, or fails to store it", async () => {
    stage.tamper = (path) => (path === "/v1/files" ? page(413, "<h1>413</h1>") : null)
    const refused = await report(stage.operator)
    expect(linesOf(refused, "upload")).toContain("limit of a request body")
    expect(refused.ended).toContain("upload failed; unchecked: command")
    const problem = JSON.stringify({ message: "Something went wrong.", code_name: "internal" })
    stage.tamper = (path) => (path === "/v1/files" ? page(500, problem) : null)
    expect(linesOf(await report(stage.operator), "upload")).toContain("Likely cause: R2 or D1")
  })

  it("has a sandbox that an attack escapes", async () => {
    stage.tamper = (path, pass) => {
      if (path === "/v1/files") return page(413, "")
      return path === "/operator/health" ? breakSandbox(pass) : null
    }
    const checked = await report(stage.operator)
    expect(linesOf(checked, "runner")).toContain("not refused: ring")
    expect(checked.ended).toContain("upload, the sandbox of this machine failed")
  })

  it("does not respond", async () => {
    const runner = findRunner(stage.service.pid)
    if (runner === null) throw new Error("there is no runner")
    process.kill(runner, "SIGSTOP")
    try {
      const checked = await report(stage.operator, { stepMsMax: 2000 })
      expect(linesOf(checked, "upload")).toContain("the job is still")
      expect(linesOf(checked, "upload")).toContain("Likely cause: the runner of this machine")
      expect(await accountsLeft(stage.operator)).toEqual([])
    } finally {
      process.kill(runner, "SIGCONT")
    }
  })

  it("left an account behind, which the next check deletes or reports", async () => {
    const left = `deployment-check-${crypto.randomUUID()}`
    const others = ["deployment-check-of-somebody", `deployment-check-${crypto.randomUUID()}`]
    for (const name of [left, ...others]) await stage.service.makeKey(name)
    stage.tamper = (path, pass) => {
      // A body that is refused ends the check with its first step.
      if (path === "/v1/files") return page(413, "")
      return path === "/operator/accounts" ? age(pass, left) : null
    }
    await report(stage.operator)
    expect((await accountsLeft(stage.operator)).toSorted()).toEqual(others.toSorted())
    stage.tamper = (path) => {
      if (path === "/v1/files") return page(413, "")
      return path.startsWith("/operator/accounts/") ? page(503, "") : null
    }
    const { lines } = await report(stage.operator)
    expect(lines.join("\n")).toMatch(/The account deployment-check-\S+ of the check could not be/)
  })

  it("stops with Ctrl-C, and deletes its account", async () => {
    const { origin, token } = stage.operator
    const before = await accountsLeft(stage.operator)
    const words = ["scripts/deploy/main.ts", "--check", "--origin", `${origin}/v1`]
    const env = { PATH: process.env["PATH"], OPERATOR_TOKEN: token }
    const child = spawn(process.execPath, words, { env, stdio: ["ignore", "pipe", "pipe"] })
    const said = text(child.stderr)
    for await (const line of createInterface(child.stdout)) {
      if (!line.includes("upload")) continue
      expect(await accountsLeft(stage.operator)).toHaveLength(before.length + 1)
      child.kill("SIGINT")
    }
    if (child.exitCode === null) await once(child, "close")
    expect(child.exitCode).toBe(1)
    expect(await said).toBe("The check was stopped, and its account was deleted.\n")
    expect(await accountsLeft(stage.operator)).toEqual(before)
  })
})

async function page(status: number, body: string): Promise<Answer> {
  return { status, headers: { "content-type": "text/html" }, body: Buffer.from(body) }
}

/** A list of accounts in which one was made two hours earlier. */
async function age(pass: () => Promise<Answer>, name: string): Promise<Answer> {
  const answer = await pass()
  const listed = z
    .object({
      accounts: z.array(z.looseObject({ name: z.string().nullable(), created_at: z.string() })),
    })
    .parse(JSON.parse(answer.body.toString()))
  const accounts = listed.accounts.map((account) => {
    if (account.name !== name) return account
    return { ...account, created_at: new Date(Date.now() - 7_200_000).toISOString() }
  })
  return { ...answer, body: Buffer.from(JSON.stringify({ ...listed, accounts })) }
}

/** The operator's health after an attack on the runner's sandbox that succeeded. */
async function breakSandbox(pass: () => Promise<Answer>): Promise<Answer> {
  const answer = await pass()
  const health = z
    .looseObject({ runner: z.looseObject({ sandbox: z.looseObject({ ok: z.boolean() }) }) })
    .parse(JSON.parse(answer.body.toString()))
  Object.assign(health.runner.sandbox, { ok: false, problem: "not refused: ring" })
  return { ...answer, body: Buffer.from(JSON.stringify(health)) }
}

async function cut(pass: () => Promise<Answer>): Promise<Answer> {
  const answer = await pass()
  return { ...answer, body: answer.body.subarray(0, -10) }
}

async function overwrite(pass: () => Promise<Answer>): Promise<Answer> {
  const answer = await pass()
  return { ...answer, body: Buffer.alloc(answer.body.length, "x") }
}
