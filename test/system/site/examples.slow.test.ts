import { globSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { startLoopbackServer } from "../../../scripts/cli/loopback-server.ts"
import type { LoopbackServer } from "../../../scripts/cli/loopback-server.ts"
import { startService } from "../service.ts"
import type { TestService } from "../service.ts"
import { Reader } from "./reader.ts"
import type { PageFacts } from "./reader.ts"
import { readSnippets } from "./snippets.ts"

/** Pages whose examples are run; those of docs/operate change the machine or an account of Cloudflare. */
const PAGES = [...globSync("docs/{guide,cookbook,coming-from}/*.md")].toSorted()

const FACTS: Record<string, PageFacts> = {
  "docs/guide/commands.md": {
    values: { film: { upload: "film.mp4" }, id: { upload: "titles.srt" } },
  },
  "docs/guide/errors.md": { status: 404 },
  "docs/guide/files.md": { values: { "your token": { text: "abc" } } },
  "docs/guide/jobs.md": { values: { id: "job" } },
}

let service: TestService
let site: LoopbackServer
let key: string

beforeAll(async () => {
  const film = await readFile("scripts/demo/command/clip.mp4")
  site = await startLoopbackServer((request, response) => {
    request.resume()
    if (request.method === "POST") response.writeHead(204).end()
    else response.writeHead(200, { "content-type": "video/mp4" }).end(film)
  })
  service = await startService({ ALLOWED_PRIVATE_HOSTS: `127.0.0.1:${site.port}` })
  key = await service.makeKey("reader", "paid")
})

afterAll(async () => {
  await service[Symbol.asyncDispose]()
  await site[Symbol.asyncDispose]()
})

describe("the examples of a page run", () => {
  test.each(PAGES)("%s", async (path) => {
    const snippets = readSnippets(path, ["sh", "python", "ts"])
    const text = snippets.map(({ code }) => code).join("\n")
    await using reader = await Reader.open(service, key, site.origin, FACTS[path] ?? {}, text)
    for (const snippet of snippets) {
      await reader.run(snippet).catch((error: unknown) => {
        throw new Error(`${path}:${snippet.line}: ${String(error)}`, { cause: error })
      })
    }
    expect(snippets.length).toBeGreaterThanOrEqual(0)
  })
})
