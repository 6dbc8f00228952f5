import { globSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { startLoopbackServer } from "../../../scripts/cli/loopback-server.ts"
import { makeTempFolder } from "../../../scripts/cli/temp-folder.ts"
import { startService } from "../service.ts"
import { makeReaderFiles } from "./media.ts"
import { Reader } from "./reader.ts"
import type { PageFacts, ReadingRoom } from "./reader.ts"
import { readSnippets } from "./snippets.ts"

/** Pages whose examples are run; those of docs/operate change the machine or an account of Cloudflare. */
const PAGES = [
  "docs/index.md",
  "docs/start.md",
  ...globSync("docs/{guide,cookbook,coming-from}/*.md"),
].toSorted()

/** File of a browser's form. */
const FILE = `import { readFileSync } from "node:fs"
const file = Object.assign(readFileSync("film.mp4"), { name: "film.mp4", type: "video/mp4" })
`
/** Upload link, and requests that fail for answers with an error. */
const LINK = `const { fetch: send } = globalThis
globalThis.fetch = async (...words) => {
  const answer = await send(...words)
  if (!answer.ok) throw new Error(await answer.text())
  return answer
}
const { API, KEY } = process.env
const headers = { "x-api-key": KEY, "content-type": "application/json" }
const { url } = await (await fetch(API + "/uploads/links", { method: "POST", headers, body: "{}" })).json()
const form = new FormData()
form.set("file", new Blob([file]), "film.mp4")
`
/** Player that asks for a playlist at once. */
const HLS = `const KEY = "a-key"
class Hls {
  constructor({ xhrSetup }) {
    const headers = new Map()
    xhrSetup({ setRequestHeader: (name, value) => headers.set(name, value) }, "http://a/v1/files/a")
    if (headers.get("x-api-key") !== KEY) throw new Error("the request has no key")
  }
}`

const FACTS: Record<string, PageFacts> = {
  "docs/guide/commands.md": {
    values: { film: { upload: "film.mp4" }, id: { upload: "titles.srt" } },
  },
  "docs/guide/errors.md": { status: 404 },
  "docs/guide/files.md": {
    values: { "your token": { text: "abc" } },
    scripts: [{ prelude: HLS }],
  },
  "docs/guide/uploads.md": {
    scripts: [
      { prelude: `${FILE}const key = process.env.KEY` },
      { prelude: `import { Upload } from "tus-js-client"\n${FILE}${LINK}`, isOfLines: true },
    ],
  },
  "docs/guide/chains.md": { values: { id: "job" } },
  "docs/guide/jobs.md": { values: { id: "job" } },
}

const opened = new AsyncDisposableStack()
let room: ReadingRoom

beforeAll(async () => {
  const files = opened.use(await makeTempFolder("reader-files")).path
  await makeReaderFiles(files)
  const film = await readFile(join(files, "clip.mp4"))
  const site = opened.use(
    await startLoopbackServer((request, response) => {
      request.resume()
      if (request.method === "POST") response.writeHead(204).end()
      else response.writeHead(200, { "content-type": "video/mp4" }).end(film)
    }),
  )
  const settings = { ALLOWED_PRIVATE_HOSTS: `127.0.0.1:${site.port}` }
  const service = opened.use(await startService(settings))
  room = { service, key: await service.makeKey("reader", "paid"), site: site.origin, files }
})

afterAll(async () => await opened.disposeAsync())

describe("the examples of a page run", () => {
  test.each(PAGES)("%s", async (path) => {
    expect(await runExamples(path)).toBe("")
  })
})

/** Runs the examples of a page. Returns the first failure; an empty text if there is none. */
async function runExamples(path: string): Promise<string> {
  const snippets = readSnippets(path, ["sh", "python", "ts", "js"])
  const text = snippets.map(({ code }) => code).join("\n")
  await using reader = await Reader.open(room, FACTS[path] ?? {}, text)
  for (const snippet of snippets) {
    try {
      await reader.run(snippet)
    } catch (error) {
      return `${path}:${snippet.line}: ${String(error)}`
    }
  }
  return ""
}
