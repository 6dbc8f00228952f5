import { z } from "zod"
import { runnerHeaders } from "../../src/contract/protocol.ts"
import { CliError } from "./cli-error.ts"
import type { HealthEndpoint } from "./health.ts"

const health = z.object({ sandbox: z.object({ ok: z.boolean(), problem: z.string().nullable() }) })

/** Throws a CliError where the runner takes no tasks because no sandbox works. */
export async function requireSandbox({ url, token }: HealthEndpoint): Promise<void> {
  const answer = await fetch(url, { headers: runnerHeaders(token) })
  const { sandbox } = health.parse(await answer.json())
  if (sandbox.ok) return
  throw new CliError(`Lathe runs no tool without a sandbox, and none works: ${sandbox.problem}.`)
}
