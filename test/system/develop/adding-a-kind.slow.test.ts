import { execFile } from "node:child_process"
import { readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { z } from "zod"
import { makeChildEnvironment } from "../../../scripts/cli/environment.ts"
import { makeTempFolder } from "../../../scripts/cli/temp-folder.ts"
import { EXAMPLE_ID } from "../../../src/platform/ids.ts"
import { openAccount } from "../../corpus/account.ts"
import type { Account } from "../../corpus/account.ts"
import { copyProject, listFiles } from "./extended-project.ts"
import type { ExtendedProject } from "./extended-project.ts"
import { startReceiver } from "../receiver.ts"
import type { Receiver } from "../receiver.ts"
import { startService } from "../service.ts"

const run = promisify(execFile)

const FIXTURE = join(import.meta.dirname, "../../fixtures/waveform")
const CHANGED_FOLDERS = ["src/contract", "src/kinds", "container/tasks"]
const TOOL_MS_MAX = 400_000
/** The import of the example and its line, in each file that lists it. */
const ENTRIES = new Map([
  [
    "src/kinds/registry.ts",
    { from: "./waveform/kind.ts", name: "waveformKind", entry: "waveformKind" },
  ],
  [
    "container/tasks/registry.ts",
    {
      from: "./waveform.ts",
      name: "waveformTaskHandler",
      entry: "makeTaskParser(waveformTaskHandler)",
    },
  ],
])
const [WIDTH, HEIGHT] = [300, 80]
/** Two seconds, of which the first is quiet and the second is loud. */
const SOUND = "aevalsrc=if(lt(t\\,1)\\,0.05\\,0.8)*sin(2764*t):d=2"

const waveform = z.looseObject({
  id: z.string(),
  status: z.string(),
  error_code: z.string().optional(),
  download_url: z.url().optional(),
})
const members = z.array(z.looseObject({ id: z.string() }))
const job = z.looseObject({ id: z.string(), kind: z.string(), status: z.string() })
const refusal = z.looseObject({
  details: z.array(z.looseObject({ field: z.string(), code: z.string() })),
})

const opened = new AsyncDisposableStack()
let project: ExtendedProject
/** The rows of the document's two tables: files of a kind's own, and lines elsewhere. */
let ownFiles: string[]
let lines: string[][]

beforeAll(async () => {
  const text = await readFile("docs/develop/adding-a-kind.md", "utf8")
  const [own = [], elsewhere = []] = tablesOf(text)
  ownFiles = own.map(([file = ""]) => file)
  lines = elsewhere
  project = opened.use(await copyProject())
  await project.addFiles(FIXTURE)
  for (const [file = "", line = ""] of lines) {
    const array = /`([A-Z_]+)`/.exec(line)?.[1]
    const listed = ENTRIES.get(file)
    if (!array || !listed) throw new Error(`adding-a-kind.md names a line unknown here: ${file}`)
    await project.addEntry(file, { ...listed, array })
  }
})

afterAll(async () => await opened.disposeAsync())

/** The cells of each table of a Markdown text, without heads; a cell that is all code is bare. */
function tablesOf(text: string): string[][][] {
  const blocks = text.split("\n\n").filter((block) => block.startsWith("|"))
  return blocks.map((block) =>
    block
      .trim()
      .split("\n")
      .slice(2)
      .map((row) =>
        row
          .split("|")
          .slice(1, -1)
          .map((cell) => cell.trim().replace(/^`([^`]*)`$/, "$1")),
      ),
  )
}

/** Runs one of the packages' programs in the copy; what it prints is the error where it fails. */
async function runThere(name: string, words: string[]): Promise<string> {
  const env = { ...makeChildEnvironment(), WRANGLER_LOG: "error", CI: "true" }
  const options = { cwd: project.path, env, timeout: TOOL_MS_MAX }
  return await run(process.execPath, [`node_modules/.bin/${name}`, ...words], options).then(
    () => "",
    (error: unknown) => {
      const printed = z.object({ stdout: z.string(), stderr: z.string() }).safeParse(error)
      return printed.data ? printed.data.stdout + printed.data.stderr : String(error)
    },
  )
}

describe("the example of docs/develop/adding-a-kind.md", { timeout: TOOL_MS_MAX }, () => {
  it("has the files that the document lists as a kind's own", async () => {
    const files = { "test/fixtures/waveform": await listFiles(FIXTURE) }
    expect(files).toEqual({ "test/fixtures/waveform": ownFiles.toSorted() })
  })

  it("adds to other files only the lines that the document lists", async () => {
    const differences = await project.differences()
    const elsewhere = lines.map(([file = ""]) => file)
    expect(Object.keys(differences).toSorted()).toEqual([...ownFiles, ...elsewhere].toSorted())
    for (const file of elsewhere) {
      const { added, removed } = differences[file] ?? { added: [], removed: [] }
      const listed = ENTRIES.get(file)
      expect([file, ...removed]).toEqual([file])
      const importLine = `import { ${listed?.name} } from "${listed?.from}"`
      expect(added).toEqual([importLine, `  ${listed?.entry},`])
    }
  })

  it.each([
    ["types of the Worker", "tsc", ["--project", "src"]],
    ["types of the runner and of its callers", "tsc", []],
    ["dead code", "knip", []],
    ["lint and import rules", "oxlint", CHANGED_FOLDERS],
  ])("passes the check of %s", async (_, program, words) => {
    expect(await runThere(program, words)).toBe("")
  })

  it("passes the tests of every operation and of the OpenAPI document", async () => {
    const files = [
      "test/api/openapi/every-operation.worker.test.ts",
      "test/api/output/openapi.test.ts",
    ]
    const words = ["run", ...files, "--testNamePattern", "Waveform|OpenAPI"]
    expect(await runThere("vitest", words)).toBe("")
  })
})

describe("the service with the example", () => {
  let account: Account
  let receiver: Receiver
  let folder: string
  let soundId: string

  beforeAll(async () => {
    receiver = opened.use(await startReceiver())
    folder = opened.use(await makeTempFolder("waveform")).path
    const service = opened.use(
      await startService({ ALLOWED_PRIVATE_HOSTS: "127.0.0.1" }, project.path),
    )
    account = openAccount(service.origin, await service.makeKey("waveform"))
    soundId = (await account.upload("sound.wav", await make("sound.wav", SOUND))).id
  })

  /** A file that ffmpeg makes from a source of lavfi. */
  async function make(name: string, source: string, ...words: string[]) {
    const path = join(folder, name)
    await run("ffmpeg", ["-v", "error", "-f", "lavfi", "-i", source, ...words, path])
    return new Uint8Array(await readFile(path))
  }

  async function post(body: object): Promise<Response> {
    const headers = { prefer: "wait=30", "content-type": "application/json" }
    return await account.call("/waveform", { method: "POST", headers, body: JSON.stringify(body) })
  }

  async function draw(more: object = {}) {
    const answer = await post({ input: `svc_id://${soundId}`, ...more })
    const body = waveform.extend({ waveform_id: z.string() }).parse(await answer.json())
    expect([answer.status, body.id, body.status]).toEqual([202, body.waveform_id, "success"])
    expect(answer.headers.get("location")).toMatch(new RegExp(`/v1/waveform/${body.id}$`))
    return body
  }

  async function listIds(path: string): Promise<string[]> {
    return members.parse(await (await account.call(path)).json()).map(({ id }) => id)
  }

  it("draws audio at the requested size", async () => {
    const { download_url = "" } = await draw({ width: WIDTH, height: HEIGHT })
    const path = join(folder, "waveform.png")
    await writeFile(path, await account.download(download_url))
    const entries = ["-show_entries", "stream=codec_name,width,height", "-of", "csv=p=0"]
    const { stdout: facts } = await run("ffprobe", ["-v", "error", ...entries, path])
    expect(facts.trim()).toBe(`png,${WIDTH},${HEIGHT}`)
    const words = ["-v", "error", "-i", path, "-vf", "alphaextract", "-f", "rawvideo", "-"]
    const { stdout: alpha } = await run("ffmpeg", words, { encoding: "buffer" })
    const drawn = [...alpha.entries()].filter(([, value]) => value > 0)
    const quiet = drawn.filter(([at]) => at % WIDTH < WIDTH / 2).length
    expect(alpha.length).toBe(WIDTH * HEIGHT)
    expect(quiet).toBeGreaterThan(0)
    expect(drawn.length - quiet).toBeGreaterThan(4 * quiet)
  })

  it("sends the record of GET to a webhook at its end", async () => {
    const { id } = await draw({ webhook: `${receiver.origin}/done` })
    const [told] = await receiver.untilReceived(1)
    expect(JSON.parse(told?.body ?? "")).toMatchObject({
      type: "waveform.succeeded",
      data: await (await account.call(`/waveform/${id}`)).json(),
    })
  })

  it("lists the job in its kind and in all jobs, retries it, and removes it", async () => {
    const { id, download_url = "" } = await draw({ metadata: { name: "value" } })
    expect(await listIds("/waveform?status=success")).toContain(id)
    const jobs = await listIds("/jobs?kind=waveform")
    expect(jobs).toContain(id)
    expect(jobs).not.toContain(soundId)
    const init = { method: "POST", headers: { prefer: "wait=30" } }
    const again = job.parse(await (await account.call(`/jobs/${id}/retry`, init)).json())
    expect(again).toMatchObject({ kind: "waveform", status: "completed" })
    expect((await account.call(`/waveform/${id}`, { method: "DELETE" })).status).toBe(200)
    expect((await account.call(`/waveform/${id}`)).status).toBe(404)
    expect((await account.call(download_url)).status).toBe(404)
    expect(await listIds("/waveform")).not.toContain(id)
    expect(await listIds("/waveform")).toContain(again.id)
  })

  it("has its operations in the OpenAPI document", async () => {
    const operation = z.looseObject({ operationId: z.string() })
    const paths = z.record(z.string(), z.record(z.string(), operation))
    const document = z.object({ paths }).parse(await (await account.call("/openapi.json")).json())
    const ids = Object.entries(document.paths)
      .filter(([path]) => path.startsWith("/waveform"))
      .flatMap(([, methods]) => Object.values(methods).map(({ operationId }) => operationId))
    expect(ids.toSorted()).toEqual([
      "createWaveform",
      "deleteWaveform",
      "getWaveform",
      "listWaveforms",
    ])
  })

  it.each([
    [{}, ["input"]],
    [{ input: "nonsense", width: 1, colour: "red" }, ["colour", "input", "width"]],
    [{ input: `svc_id://${EXAMPLE_ID}` }, ["input"]],
    [{ input: null, webhook: "ftp://127.0.0.1/" }, ["input", "webhook"]],
  ])("refuses %j with every field at fault", async (body, fields) => {
    const answer = await post(body)
    expect(answer.status).toBe(422)
    const { details } = refusal.parse(await answer.json())
    expect(details.map(({ field }) => field).toSorted()).toEqual(fields)
  })

  it("refuses a file without audio, and broken media", async () => {
    const picture = await make("picture.png", "color=s=16x16", "-frames:v", "1")
    const silent = await account.upload("picture.png", picture)
    const broken = await account.upload("sound.wav", "no sound at all")
    for (const [{ id }, code] of [
      [silent, "no_audio"],
      [broken, "probe_failed"],
    ] as const) {
      const answer = await post({ input: `svc_id://${id}` })
      const { details } = refusal.parse(await answer.json())
      expect(details).toMatchObject([{ field: "input", code }])
    }
  })

  it("leaves the project unchanged", async () => {
    const elsewhere = lines.map(([file = ""]) => file)
    expect(Object.keys(await project.differences()).toSorted()).toEqual(
      [...ownFiles, ...elsewhere].toSorted(),
    )
  })
})
