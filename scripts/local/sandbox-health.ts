import { z } from "zod"
import { runnerHeaders } from "../../src/contract/protocol.ts"
import { Complaint } from "./complaint.ts"
import type { HealthDoor } from "./health.ts"

const health = z.object({ sandbox: z.object({ ok: z.boolean(), problem: z.string().nullable() }) })

/** Throws a Complaint where the runner takes no task for want of a sandbox. */
export async function requireSandbox({ url, token }: HealthDoor): Promise<void> {
  const answer = await fetch(url, { headers: runnerHeaders(token) })
  const { sandbox } = health.parse(await answer.json())
  if (sandbox.ok) return
  throw new Complaint(`Lathe runs no tool without a sandbox, and none works: ${sandbox.problem}.`)
}
