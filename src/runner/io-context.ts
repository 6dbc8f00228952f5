import type { Context } from "hono"
import { z } from "zod"
import type { Env } from "../bindings/env.ts"
import type { TaskRun } from "../bindings/rpc.ts"
import type { TaskGrant } from "./task-token.ts"

/**
 * Hono environment of the routes that runners call: the bindings, and from the request's token the
 * run and its grant, a list of the objects that the run may access.
 */
export type IoHonoEnv = { Bindings: Env; Variables: { run: TaskRun; grant: TaskGrant | null } }
export type IoContext = Context<IoHonoEnv>

const completion = z.object({
  parts: z.array(z.object({ part_number: z.int().positive(), etag: z.string() })).min(1),
})

/**
 * Reads the list of uploaded parts from the body of a request that completes an upload. Returns
 * null for a malformed body.
 */
export async function readCompletedParts(c: IoContext): Promise<R2UploadedPart[] | null> {
  const { data } = completion.safeParse(await c.req.json().catch(() => null))
  return data?.parts.map(({ part_number, etag }) => ({ partNumber: part_number, etag })) ?? null
}

export function readHttpMetadata(c: IoContext): R2HTTPMetadata {
  return { contentType: c.req.header("content-type") ?? "application/octet-stream" }
}

export function respondWithMessage(status: number, message: string): Response {
  return Response.json({ message }, { status })
}
