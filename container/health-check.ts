import { z } from "zod"
import { runnerHeaders } from "../src/contract/protocol.ts"
import { readEnvironment } from "./environment.ts"

const health = z.object({ sandbox: z.object({ ok: z.boolean() }) })
const { RUNNER_PORT: port, RUNNER_TOKEN: token } = readEnvironment(process.env)

// The engine ends this process where the answer takes too long.
const answer = await fetch(`http://127.0.0.1:${port}/health`, {
  headers: runnerHeaders(token),
})
const text = await answer.text()
console.log(text)
// A runner without a sandbox takes no task.
if (!health.parse(JSON.parse(text)).sandbox.ok) process.exitCode = 1
