import { describe, expect, it } from "vitest"
import { z } from "zod"
import { runContainer, runScriptIn } from "../../scripts/image/docker.ts"
import { PROTOCOL_HEADER, PROTOCOL_VERSION } from "../../src/contract/protocol.ts"
import { report } from "../../src/contract/report.ts"
import { fetchTask, MEDIA_KEY } from "../../src/contract/tasks/fetch.ts"

const SITE_PORT = 18_080
const PRIVATE_PORT = 18_081

const told = z.object({
  report,
  storedBytes: z.number(),
  isPrivateReached: z.boolean(),
})

/**
 * Has the runner of a container fetch a page of a site inside the container. Beside the site, which
 * the runner was told to allow, there is a server that nothing may reach.
 */
async function fetchPage(container: string, path: string): Promise<z.infer<typeof told>> {
  const taskId = crypto.randomUUID()
  const order = {
    task_id: taskId,
    job_id: crypto.randomUUID(),
    fence: 1,
    slot: taskId,
    allocation: 1,
    inputs: [],
    work: {
      kind: "fetch",
      url: `http://127.0.0.1:${SITE_PORT}${path}`,
      quality: "best",
      subtitles: [],
      bytes_max: 100_000_000,
      run_seconds_max: 60,
      outputs: [{ key: MEDIA_KEY, name: "media" }],
    },
  }
  const printed = await runScriptIn(
    container,
    `
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
    }).listen(${PRIVATE_PORT}, "127.0.0.1")
    createServer(({ url }, response) => {
      if (url === "/clip.mp4") return response.writeHead(200, { "content-type": "video/mp4" }).end(clip)
      const source = url === "/inside" ? "http://127.0.0.1:${PRIVATE_PORT}/clip.mp4" : "/clip.mp4"
      const page = "<html><head><title>A clip</title></head><video src='" + source + "'></video></html>"
      response.writeHead(200, { "content-type": "text/html" }).end(page)
    }).listen(${SITE_PORT}, "127.0.0.1")
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
    })`,
  )
  return told.parse(JSON.parse(printed))
}

describe("the image as a runner of fetches", () => {
  it.for([
    ["as Docker starts it", []],
    [
      "read-only, with no capability",
      "--read-only --tmpfs /work --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges".split(
        " ",
      ),
    ],
  ] as const)("fetches a page and reaches nothing private, %s", async ([, options]) => {
    const allowed = ["--env", `ALLOWED_PRIVATE_HOSTS=127.0.0.1:${SITE_PORT}`]
    await using container = await runContainer([...allowed, ...options])
    const fetched = await fetchPage(container.id, "/watch")
    if (fetched.report.kind !== "finished") throw new Error(JSON.stringify(fetched.report))
    const { title, media } = fetchTask.result.parse(fetched.report.result)
    expect(title).toBe("A clip")
    expect(media).toMatchObject({ content_type: "video/mp4", size_bytes: fetched.storedBytes })

    const inside = await fetchPage(container.id, "/inside")
    expect(inside).toMatchObject({
      isPrivateReached: false,
      storedBytes: 0,
      report: { kind: "failed", failure: { code: "url_not_allowed" } },
    })
  })
})
