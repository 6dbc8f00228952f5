import { z } from "zod"
import { PROTOCOL_HEADER, PROTOCOL_VERSION } from "../../src/contract/protocol.ts"
import { Complaint } from "./complaint.ts"

const health = z.object({ sandbox: z.object({ ok: z.boolean(), problem: z.string().nullable() }) })

/** Throws a Complaint where the runner takes no task for want of a sandbox. */
export async function requireSandbox(url: string): Promise<void> {
  const answer = await fetch(url, { headers: { [PROTOCOL_HEADER]: PROTOCOL_VERSION } })
  const { sandbox } = health.parse(await answer.json())
  if (sandbox.ok) return
  throw new Complaint(`Lathe runs no tool without a sandbox, and none works: ${sandbox.problem}.`)
}
