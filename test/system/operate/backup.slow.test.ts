import { execFile } from "node:child_process"
import { createHash } from "node:crypto"
import {
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  statSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterAll, beforeAll, expect, test } from "vitest"
import { z } from "zod"
import { makeChildEnvironment } from "../../../scripts/cli/environment.ts"
import { startServiceProcess } from "../../../scripts/cli/service-process.ts"
import { makeTempFolder } from "../../../scripts/cli/temp-folder.ts"
import { openKeyedCall } from "./keyed-call.ts"
import type { KeyedCall } from "./keyed-call.ts"
import { startService } from "../service.ts"
import type { TestService } from "../service.ts"

const file = z.looseObject({
  id: z.string(),
  name: z.string(),
  download_url: z.string(),
  public_url: z.string().optional(),
  sha256: z.string().optional(),
})
type File = z.infer<typeof file>
const job = z.looseObject({ id: z.string(), status: z.string() })

const OTHER_UID = 23_456

const opened = new AsyncDisposableStack()
let service: TestService
let key: string
let call: KeyedCall
let folder: string

beforeAll(async () => {
  service = opened.use(await startService({ RUNNER_CAPACITY: "1" }))
  key = await service.makeKey("keeps copies", "paid")
  call = openKeyedCall(service, key)
  folder = opened.use(await makeTempFolder("backup")).path
})

afterAll(async () => await opened.disposeAsync())

/** Runs the command as an operator would; answers what it said. */
async function backUp(target: string, stateDir = service.stateDir): Promise<string> {
  const { stdout } = await promisify(execFile)("sh", ["scripts/run", "backup", target], {
    env: { ...makeChildEnvironment(), STATE_DIR: stateDir },
  })
  return stdout
}

async function upload(content: string): Promise<File> {
  const body = new FormData()
  body.append("file", new File([content], "note.txt"))
  return file.parse(await (await call("/files", { method: "POST", body })).json())
}

async function command(seconds: number, headers: Record<string, string> = {}): Promise<string> {
  const answer = await call("/commands", {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({
      ffmpeg_command: `ffmpeg -f lavfi -re -i sine=d=${seconds} {{out_1}}`,
      input_files: {},
      output_files: { out_1: "tone.wav" },
    }),
  })
  expect(answer.status).toBe(202)
  return z.object({ command_id: z.string() }).parse(await answer.json()).command_id
}

async function digestOf(answer: Response): Promise<string> {
  const bytes = new Uint8Array(await answer.arrayBuffer())
  return createHash("sha256").update(bytes).digest("hex")
}

test("a backup of a running service starts with all its data, and continues its work", async () => {
  const done = await command(0.2, { prefer: "wait=60" })
  const note = await upload("a note that is there before")
  await call(`/files/${note.id}/publish`, { method: "POST" })
  const before = await (await call(`/jobs/${done}`)).json()
  // A job runs and a job waits during the copy, while others upload.
  const open = [await command(3), await command(0.2)]
  let isCopied = false
  async function keepUploading(): Promise<void> {
    for (let at = 0; !isCopied; at += 1) await upload(`a note that comes meanwhile, ${at}`)
  }
  const uploading = keepUploading()
  // A first copy has nothing to keep or to lose.
  expect(await backUp(folder)).toMatch(/^Copied \d+ files \([\d.]+ MiB\) of \S+ to \S+\.\n$/)
  isCopied = true
  await uploading
  await upload("a note that comes after")

  const restoredDir = join(opened.use(await makeTempFolder("restored")).path, "state")
  cpSync(folder, restoredDir, { recursive: true })
  await using restored = await startServiceProcess({ stateDir: restoredDir, echoesErrors: true })
  const ask = openKeyedCall(restored, key)
  expect(await (await ask(`/jobs/${done}`)).json()).toEqual(
    JSON.parse(JSON.stringify(before).replaceAll(service.origin, restored.origin)),
  )
  for (const id of open) {
    const ended = job.parse(
      await (await ask(`/jobs/${id}`, { headers: { prefer: "wait=60" } })).json(),
    )
    expect(ended).toMatchObject({ id, status: "completed" })
  }
  const files = z.array(file).parse(await (await ask("/files?limit=100")).json())
  expect(files.map(({ id }) => id)).toContain(note.id)
  expect(files.filter(({ name }) => name === "tone.wav")).toHaveLength(3)
  for (const { download_url, sha256 } of files) {
    expect(sha256).toBeDefined()
    expect(await digestOf(await ask(download_url))).toBe(sha256)
  }
  const shown = files.find(({ id }) => id === note.id)
  expect(await (await fetch(shown?.public_url ?? "")).text()).toBe("a note that is there before")
})

test("a backup is updated, and loses what the service deleted", async () => {
  const [kept, lost] = [await upload("a note to keep"), await upload("a note to lose")]
  await backUp(folder)
  await call(`/files/${lost.id}`, { method: "DELETE" })
  const late = await upload("a note that is new")
  expect(await backUp(folder)).toMatch(
    /; \d+ were already there, and 1 that the service deleted were removed\.\n$/,
  )
  const open = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter(
    (name) => (statSync(join(folder, name)).mode & 0o077) !== 0,
  )
  expect({ open, mode: statSync(folder).mode & 0o777 }).toEqual({ open: [], mode: 0o700 })
  await using restored = await startServiceProcess({ stateDir: folder, echoesErrors: true })
  const ask = openKeyedCall(restored, key)
  const statuses = [kept, lost, late].map(async ({ id }) => (await ask(`/files/${id}`)).status)
  expect(await Promise.all(statuses)).toEqual([200, 404, 200])
})

test("a folder with other content is refused and stays unchanged, and so is a folder without a service", async () => {
  const other = opened.use(await makeTempFolder("other")).path
  writeFileSync(join(other, "letter.txt"), "dear reader")
  await expect(backUp(other)).rejects.toThrow("contains other files than a backup")
  expect(existsSync(join(other, "letter.txt"))).toBe(true)
  await expect(backUp(join(service.stateDir, "copy"))).rejects.toThrow("name another folder")
  const missing = join(other, "no", "copy")
  await expect(backUp(missing)).rejects.toMatchObject({
    stderr: expect.stringMatching(
      /^The folder \S+\/no above .* does not exist: .* back up to another folder\.\n$/,
    ),
  })
  const empty = join(other, "empty")
  mkdirSync(empty)
  await expect(backUp(join(other, "copy"), empty)).rejects.toThrow("There is no service in")
  expect(existsSync(join(other, "copy"))).toBe(false)
})

test.runIf(process.getuid?.() === 0)("a folder of another user is refused", async () => {
  const theirs = opened.use(await makeTempFolder("theirs")).path
  writeFileSync(join(theirs, "lathe-backup.json"), "{}")
  for (const path of [join(theirs, "lathe-backup.json"), theirs]) {
    chownSync(path, OTHER_UID, OTHER_UID)
  }
  await expect(backUp(theirs)).rejects.toThrow(`${theirs} belongs to user ${OTHER_UID}`)
  expect(readdirSync(theirs)).toEqual(["lathe-backup.json"])
})
