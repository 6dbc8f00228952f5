import { mkdir, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { afterEach, beforeEach, expect, it } from "vitest"
import { openFfmpegRest } from "../../scripts/bench/peers/ffmpeg-rest.ts"
import { makeMedia, SMALL_MEDIA } from "../../scripts/bench/media.ts"
import { openBenchScope } from "../../scripts/bench/scope.ts"
import type { BenchScope } from "../../scripts/bench/scope.ts"
import { makeSmallFilm } from "../../scripts/bench/short/film.ts"

const SERVER = "apps/server/dist/server.js"
const WORKER = "apps/worker/dist/worker.js"
/** Nothing of what stands in asks it. */
const REDIS_URL = "redis://127.0.0.1:1"

let scope: BenchScope
let path: string

beforeEach(async () => {
  scope = openBenchScope()
  path = await makeSmallFilm(await scope.makeFolder())
})

afterEach(async () => {
  await scope.close()
})

/** Serves the two routes of ffmpeg-rest; `convert` is what it does with the bytes of a film. */
function serverCode(convert = "answer.end(film)"): string {
  return `
    import { readFileSync } from "node:fs"
    import { createServer } from "node:http"
    createServer(async (incoming, answer) => {
      const request = new Request("http://peer" + incoming.url, {
        method: incoming.method, headers: incoming.headers, body: incoming, duplex: "half",
      })
      const film = Buffer.from(await (await request.formData()).get("file").arrayBuffer())
      const streams = film.includes("ftyp") ? [{ index: 0 }] : []
      if (incoming.url === "/media/info") answer.end(JSON.stringify({ streams }))
      else if (incoming.url === "/video/mp4") ${convert}
    }).listen(Number(process.env.PORT), "127.0.0.1")
  `
}

async function makeCheckout(files: Record<string, string>): Promise<string> {
  const folder = await scope.makeFolder()
  for (const [name, text] of Object.entries({ "package.json": '{"type":"module"}', ...files })) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), text)
  }
  return folder
}

const IDLE = "setInterval(() => 0, 1000)"

async function open(checkout: string) {
  return await openFfmpegRest(scope, checkout, { path, redisUrl: REDIS_URL })
}

it("probes and remuxes a film by an upload each", async () => {
  const peer = await open(await makeCheckout({ [SERVER]: serverCode(), [WORKER]: IDLE }))
  await peer.probe()
  await peer.remux()
  expect(peer.remuxStored).toBeNull()
})

it("refuses a folder that has no project", async () => {
  const folder = await scope.makeFolder()
  await expect(open(folder)).rejects.toThrow(
    `PEERS names ${folder}, which is no checkout of ffmpeg-rest.`,
  )
})

it("says how a checkout is built that is not", async () => {
  const folder = await makeCheckout({ [SERVER]: serverCode() })
  await expect(open(folder)).rejects.toThrow(
    `The checkout of ffmpeg-rest has no ${WORKER}: run npm ci and npm run build in ${folder}.`,
  )
})

it("says that Redis is missing where there is none", async () => {
  const folder = await makeCheckout({ [SERVER]: serverCode(), [WORKER]: IDLE })
  const { PATH } = process.env
  process.env["PATH"] = await scope.makeFolder()
  try {
    await expect(openFfmpegRest(scope, folder, { path, redisUrl: undefined })).rejects.toThrow(
      "ffmpeg-rest needs Redis: install redis-server",
    )
  } finally {
    process.env["PATH"] = PATH
  }
})

it("shows what a process of it said that ended", async () => {
  const code = 'console.error("Redis refused."); process.exit(3)'
  const checkout = await makeCheckout({ [SERVER]: serverCode(), [WORKER]: code })
  const message = await open(checkout).then(String, String)
  expect(message).toContain("ffmpeg-rest did not come up: a process of it ended with 3.")
  expect(message).toContain("Redis refused.")
})

it("refuses one that encodes the film anew", async () => {
  const other = await makeMedia(await scope.makeFolder(), "other.mp4", SMALL_MEDIA)
  const code = serverCode(`answer.end(readFileSync(${JSON.stringify(other)}))`)
  const checkout = await makeCheckout({ [SERVER]: code, [WORKER]: IDLE })
  await expect(open(checkout)).rejects.toThrow("encodes an mp4 of H.264 and AAC anew")
})

it("says what a refused remux was answered", async () => {
  const code = serverCode('answer.writeHead(400).end("No such codec.")')
  const checkout = await makeCheckout({ [SERVER]: code, [WORKER]: IDLE })
  await expect(open(checkout)).rejects.toThrow("POST /video/mp4 was answered 400: No such codec.")
})
