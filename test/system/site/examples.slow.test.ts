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

const FACTS: Record<string, PageFacts> = {
  "docs/guide/commands.md": {
    values: { film: { upload: "film.mp4" }, id: { upload: "titles.srt" } },
  },
  "docs/guide/errors.md": { status: 404 },
  "docs/guide/files.md": { values: { "your token": { text: "abc" } } },
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
    const snippets = readSnippets(path, ["sh", "python", "ts"])
    const text = snippets.map(({ code }) => code).join("\n")
    await using reader = await Reader.open(room, FACTS[path] ?? {}, text)
    for (const snippet of snippets) {
      await reader.run(snippet).catch((error: unknown) => {
        throw new Error(`${path}:${snippet.line}: ${String(error)}`, { cause: error })
      })
    }
    expect(snippets.length).toBeGreaterThanOrEqual(0)
  })
})
