import { once } from "node:events"
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare } from "miniflare"
import { z } from "zod"
import { patchMiniflare } from "../build/miniflare-patch.ts"
import { r2Patch } from "../build/r2-patch.ts"

/** Path of this file. Run as a program, it serves a Worker that stores request bodies in R2. */
export const PLAIN_PUT_PROGRAM_PATH = import.meta.filename

/** Line that the program prints when it is ready, followed by its origin. */
export const PLAIN_PUT_READY_PREFIX = "Plain put serves "

const CONTENTS = `export default {
  async fetch(request, env) {
    const { pathname } = new URL(request.url)
    if (request.method === "DELETE") await env.BUCKET.delete(pathname)
    if (request.method === "PUT") await env.BUCKET.put(pathname, request.body)
    return new Response("ok")
  },
}`

if (import.meta.main) await serve()

async function serve(): Promise<void> {
  const { STATE_DIR: stateDir } = z.object({ STATE_DIR: z.string() }).parse(process.env)
  patchMiniflare(r2Patch)
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
          name: "plain-put",
          compatibilityDate: "2026-10-01",
          r2Buckets: ["BUCKET"],
          modules: [{ type: "ESModule", path: "index.js", contents: CONTENTS }],
        },
      ],
    }),
  )
  const url = await miniflare.ready
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.removeAllListeners(signal)
  console.log(`${PLAIN_PUT_READY_PREFIX}${url.origin}`)
  await Promise.race([once(process, "SIGINT"), once(process, "SIGTERM")])
  await miniflare.dispose()
  process.exit()
}
