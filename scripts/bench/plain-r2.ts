import { once } from "node:events"
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare } from "miniflare"
import { z } from "zod"
import { patchMiniflare } from "../build/miniflare-patch.ts"
import { miniflareR2Patch } from "../build/r2-patch.ts"
import { createApiCaller } from "../cli/client/caller.ts"
import type { ApiCaller } from "../cli/client/caller.ts"
import { makeChildEnvironment } from "../cli/environment.ts"
import { startNodeProgram, waitForReadyLine } from "../cli/program.ts"
import type { BenchResources } from "./scope.ts"

/**
 * Beginning of the line that the Worker's process prints when the Worker is ready. The Worker's
 * origin follows.
 */
const READY_PREFIX = "Plain R2 serves "

/**
 * Path prefix. Bodies of requests below it are stored by multipart uploads, as the service stores
 * large files.
 */
export const MULTIPART_STORE_PATH = "/in-parts/"

const CONTENTS = `const PART_BYTES = 5 * 1024 * 1024
async function putInParts(bucket, key, body) {
  const upload = await bucket.createMultipartUpload(key)
  const reader = body.getReader({ mode: "byob" })
  const parts = []
  for (;;) {
    const { value, done } = await reader.readAtLeast(PART_BYTES, new Uint8Array(PART_BYTES))
    if (value?.byteLength) parts.push(await upload.uploadPart(parts.length + 1, value))
    if (done) return await upload.complete(parts)
  }
}
export default {
  async fetch(request, env) {
    const { pathname } = new URL(request.url)
    const isPut = request.method === "PUT"
    if (isPut && pathname.startsWith("${MULTIPART_STORE_PATH}")) {
      await putInParts(env.BUCKET, pathname, request.body)
      return new Response("ok")
    }
    if (request.method === "DELETE") await env.BUCKET.delete(pathname)
    if (isPut) await env.BUCKET.put(pathname, request.body)
    const object = request.method === "GET" ? await env.BUCKET.get(pathname) : null
    if (object) return new Response(object.body, { headers: { "content-length": object.size } })
    return new Response("ok")
  },
}`

if (import.meta.main) await serve()

/**
 * Starts a Worker that only puts request bodies into R2 and gets them. The Worker uses the same R2
 * as the service and none of its code.
 */
export async function startPlainR2Worker(
  scope: BenchResources,
): Promise<{ caller: ApiCaller; pid: number }> {
  const environment = { ...makeChildEnvironment(), STATE_DIR: await scope.makeFolder() }
  const program = scope.use(startNodeProgram({ words: [import.meta.filename], environment }))
  const line = await waitForReadyLine(program, new RegExp(`^${READY_PREFIX}`))
  const caller = createApiCaller(line.slice(READY_PREFIX.length))
  scope.defer(() => caller.close())
  return { caller, pid: program.pid }
}

async function serve(): Promise<void> {
  const { STATE_DIR: stateDir } = z.object({ STATE_DIR: z.string() }).parse(process.env)
  patchMiniflare(miniflareR2Patch)
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      host: "127.0.0.1",
      port: 0,
      cf: false,
      logRequests: false,
      telemetry: { enabled: false },
      log: new Log(LogLevel.WARN),
      resourcePersistencePath: stateDir,
      workers: [
        {
          name: "plain-r2",
          compatibilityDate: "2026-10-01",
          r2Buckets: ["BUCKET"],
          modules: [{ type: "ESModule", path: "index.js", contents: CONTENTS }],
        },
      ],
    }),
  )
  const url = await miniflare.ready
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.removeAllListeners(signal)
  console.log(`${READY_PREFIX}${url.origin}`)
  await Promise.race([once(process, "SIGINT"), once(process, "SIGTERM")])
  await miniflare.dispose()
  process.exit()
}
