import { execFile } from "node:child_process"
import { existsSync, globSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { startLoopbackServer } from "../../../scripts/cli/loopback-server.ts"
import { makeTempFolder } from "../../../scripts/cli/temp-folder.ts"
import { startService } from "../service.ts"
import { COMMANDS_NOT_RUN, stripComment } from "./commands-not-run.ts"
import { makeReaderFiles } from "./media.ts"
import { PAGE_FACTS } from "./page-facts.ts"
import { READER_ACCOUNT, Reader } from "./reader.ts"
import type { ReadingRoom } from "./reader.ts"
import { readSnippets, splitCommands } from "./snippets.ts"

/** Pages whose examples are run. */
const PAGES = [
  "README.md",
  "CONTRIBUTING.md",
  ...globSync("docs/{*,{guide,cookbook,coming-from,operate,develop}/*}.md"),
].toSorted()

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
  room = { service, key: await service.makeKey(READER_ACCOUNT, "paid"), site: site.origin, files }
})

afterAll(async () => await opened.disposeAsync())

describe("the examples of a page run", () => {
  test.each(PAGES)("%s", async (path) => {
    expect(await runExamples(path)).toBe("")
  })
})

describe("a command that is not run", () => {
  test("is on a page", () => {
    const commands = PAGES.flatMap((path) => readSnippets(path, ["sh"])).flatMap(({ code }) =>
      splitCommands(code).map(stripComment),
    )
    const gone = [...COMMANDS_NOT_RUN.keys()].filter((command) => !commands.includes(command))
    expect(gone).toEqual([])
  })

  test("is run otherwise by a test that exists, or has a reason", () => {
    const reasons = [...COMMANDS_NOT_RUN.values()]
    const paths = reasons.flatMap((reason) => ("test" in reason ? [reason.test] : []))
    expect(paths.filter((path) => !existsSync(path))).toEqual([])
  })

  const ofWrangler = [...COMMANDS_NOT_RUN].flatMap(([command, reason]) =>
    "wrangler" in reason ? [[command, reason.wrangler] as const] : [],
  )

  test.each(ofWrangler)("is known to wrangler, with its options: %s", async (command, name) => {
    const words = [...name.split(" "), "--help"]
    const { stdout } = await promisify(execFile)("node_modules/.bin/wrangler", words)
    expect(stdout).toContain(`wrangler ${name}`)
    const [, given = ""] = command.split(`wrangler ${name}`)
    for (const option of given.match(/--[a-z-]+/g) ?? []) expect(stdout).toContain(option)
  })
})

/** Runs the examples of a page. Returns the first failure; an empty text if there is none. */
async function runExamples(path: string): Promise<string> {
  const snippets = readSnippets(path, ["sh", "python", "ts", "js"])
  const text = snippets.map(({ code }) => code).join("\n")
  await using reader = await Reader.open(room, PAGE_FACTS[path] ?? {}, text)
  for (const snippet of snippets) {
    try {
      await reader.run(snippet)
    } catch (error) {
      return `${path}:${snippet.line}: ${String(error)}`
    }
  }
  return ""
}
