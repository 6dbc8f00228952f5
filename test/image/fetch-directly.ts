import { z } from "zod"
import { runScriptIn } from "../../scripts/image/docker.ts"
import { PROTOCOL_HEADER, PROTOCOL_VERSION } from "../../src/contract/protocol.ts"
import { report } from "../../src/contract/report.ts"
import { MEDIA_KEY } from "../../src/contract/tasks/fetch.ts"

/** Where the site listens in a container, which its runner has to be allowed to reach. */
export const SITE = "127.0.0.1:18080"
/** A server beside it that nothing may reach. */
const PRIVATE = "127.0.0.1:18081"

const told = z.object({ report, storedBytes: z.number(), isPrivateReached: z.boolean() })

/**
 * Has the runner of a container fetch a page of a site inside the container: `/watch` has a video, and
 * `/inside` one of the server that nothing may reach. Answers the last report, and what was stored.
 */
export async function fetchDirectly(
  container: string,
  path: string,
): Promise<z.infer<typeof told>> {
  const printed = await runScriptIn(container, scriptFor(orderFor(`http://${SITE}${path}`)))
  return told.parse(JSON.parse(printed))
}

function orderFor(url: string) {
  const taskId = crypto.randomUUID()
  return {
    task_id: taskId,
    job_id: crypto.randomUUID(),
    fence: 1,
    slot: taskId,
    allocation: 1,
    inputs: [],
    work: {
      kind: "fetch",
      url,
      quality: "best",
      subtitles: [],
      bytes_max: 100_000_000,
      run_seconds_max: 60,
      outputs: [{ key: MEDIA_KEY, name: "media" }],
    },
  }
}

/** Serves the site and the routes that the runner reports to, and hands it the order. */
function scriptFor(order: object): string {
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
for (let time = 0; time < 50; time += 1) {
  if (await fetch("http://127.0.0.1:8788/health").catch(() => null)) break
  await new Promise((done) => setTimeout(done, 200))
}
io.listen(0, "127.0.0.1", async () => {
  const origin = "http://127.0.0.1:" + io.address().port
  const answer = await fetch("http://127.0.0.1:8788/tasks", {
    method: "POST",
    headers: {
      "${PROTOCOL_HEADER}": "${PROTOCOL_VERSION}",
      authorization: "Bearer " + process.env.RUNNER_TOKEN,
    },
    body: JSON.stringify({ ...${JSON.stringify(order)}, io: { origin, token: "none" } }),
  })
  if (answer.status === 202) return
  console.error(answer.status, await answer.text())
  process.exit(1)
})`
}

function portOf(host: string): string {
  return new URL(`http://${host}`).port
}
