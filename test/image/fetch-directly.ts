import { z } from "zod"
import { runScriptInContainer } from "../../scripts/image/docker.ts"
import { reportSchema } from "../../src/contract/report.ts"
import { FETCHED_MEDIA_OUTPUT_KEY } from "../../src/contract/tasks/fetch.ts"
import { makeDirectOrder, scriptToHandOver } from "./hand-over.ts"

/** Where the site listens in a container, which its runner has to be allowed to reach. */
export const SITE = "127.0.0.1:18080"
/** A server beside it that nothing may reach. */
const PRIVATE = "127.0.0.1:18081"

const told = z.object({
  report: reportSchema,
  storedBytes: z.number(),
  isPrivateReached: z.boolean(),
})

/**
 * Has the runner of a container fetch a page of a site inside the container: `/watch` has a video,
 * and `/inside` one of the server that nothing may reach. Answers the last report, and what was
 * stored.
 */
export async function fetchDirectly(
  container: string,
  path: string,
): Promise<z.infer<typeof told>> {
  const printed = await runScriptInContainer(container, scriptFor(`http://${SITE}${path}`))
  return told.parse(JSON.parse(printed))
}

/** The order to fetch a page. */
function orderFor(url: string): object {
  return makeDirectOrder({
    kind: "fetch",
    url,
    quality: "best",
    subtitles: [],
    bytes_max: 100_000_000,
    run_seconds_max: 60,
    outputs: [{ key: FETCHED_MEDIA_OUTPUT_KEY, name: "media" }],
  })
}

/** Serves the site and the routes that the runner reports to, and hands it the order. */
function scriptFor(url: string): string {
  return `
import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync } from "node:fs"
import { createServer } from "node:http"
const folder = mkdtempSync("/tmp/site-")
execFileSync("ffmpeg", ["-v", "error", "-f", "lavfi", "-i", "testsrc2=size=64x64:rate=10",
  "-t", "2", "-c:v", "mpeg4", folder + "/clip.mp4"])
const clip = readFileSync(folder + "/clip.mp4")
let isPrivateReached = false
createServer((request, response) => {
  isPrivateReached = true
  response.writeHead(200, { "content-type": "video/mp4" }).end(clip)
}).listen(${portOf(PRIVATE)}, "127.0.0.1")
createServer(({ url }, response) => {
  if (url === "/clip.mp4") return response.writeHead(200, { "content-type": "video/mp4" }).end(clip)
  const source = url === "/inside" ? "http://${PRIVATE}/clip.mp4" : "/clip.mp4"
  const page = "<html><head><title>A clip</title></head><video src='" + source + "'></video></html>"
  response.writeHead(200, { "content-type": "text/html" }).end(page)
}).listen(${portOf(SITE)}, "127.0.0.1")
let storedBytes = 0
const io = createServer(async (request, response) => {
  const bytes = Buffer.concat(await request.toArray())
  response.end("{}")
  if (!request.url.endsWith("/reports")) {
    storedBytes += bytes.length
    return
  }
  const report = JSON.parse(bytes)
  if (!/^(finished|failed|interrupted)$/.test(report.kind)) return
  console.log(JSON.stringify({ report, storedBytes, isPrivateReached }))
  process.exit()
})
${scriptToHandOver(orderFor(url))}`
}

function portOf(host: string): string {
  return new URL(`http://${host}`).port
}
