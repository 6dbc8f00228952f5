import type { Context } from "hono"
import { z } from "zod"
import type { Env } from "../env.ts"
import type { TaskRun } from "../rpc.ts"
import type { TaskGrant } from "./token.ts"

/** What a route of a runner has: the bindings, the run that its token is of, and what that grants. */
export type Io = { Bindings: Env; Variables: { run: TaskRun; grant: TaskGrant | null } }
export type IoContext = Context<Io>

const completion = z.object({
  parts: z.array(z.object({ part_number: z.int().positive(), etag: z.string() })).min(1),
})

/** The parts that an upload is to be completed from, as a request names them; null for a bad body. */
export async function readCompletion(c: IoContext): Promise<R2UploadedPart[] | null> {
  const { data } = completion.safeParse(await c.req.json().catch(() => null))
  return data?.parts.map(({ part_number, etag }) => ({ partNumber: part_number, etag })) ?? null
}

export function metadataOf(c: IoContext): R2HTTPMetadata {
  return { contentType: c.req.header("content-type") ?? "application/octet-stream" }
}

export function say(status: number, message: string): Response {
  return Response.json({ message }, { status })
}
