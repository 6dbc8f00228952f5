import { globSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { afterAll, beforeAll, expect, test } from "vitest"
import { makeTempFolder } from "../../../scripts/cli/temp-folder.ts"
import { openAccount } from "../../corpus/account.ts"
import type { Account } from "../../corpus/account.ts"
import { makeMedia } from "../../corpus/fixtures.ts"
import { startReceiver } from "../receiver.ts"
import { startService } from "../service.ts"

const FLOWS = 30
/**
 * Bytes of cells that an upload, a command and a webhook leave. Few flows leave many pages half
 * empty; with 400 flows of one account whole pages add a twentieth. Ids and hashes of outputs in
 * records and webhooks are 0.2 KB of these.
 */
const BYTES_MAX = 4_250
/** Least length of the probe of the film and of the command's output. */
const PROBE_LENGTH_MIN = 3_000

const FILM =
  "-f lavfi -i testsrc2=s=320x180:d=1 -f lavfi -i sine=d=1 -f lavfi -i sine=f=880:d=1 -map 0 -map 1 -map 2 -c:v libx264 -preset ultrafast -pix_fmt yuv420p -c:a aac -ac 2"

const opened = new AsyncDisposableStack()
let account: Account
let webhook: string
let untilReceived: (count: number) => Promise<unknown>
let film: Uint8Array<ArrayBuffer>
let stateDir: string

beforeAll(async () => {
  const folder = opened.use(await makeTempFolder("row-bytes")).path
  await makeMedia(folder, {}, [["film.mp4", FILM]])
  film = new Uint8Array(await readFile(join(folder, "film.mp4")))
  const settings = { ALLOWED_PRIVATE_HOSTS: "127.0.0.1", PAID_REQUESTS_PER_MINUTE: "1000" }
  const service = opened.use(await startService(settings))
  stateDir = service.stateDir
  const receiver = opened.use(await startReceiver())
  webhook = `${receiver.origin}/hooks/of/finished/jobs`
  untilReceived = async (count) => await receiver.untilReceived(count)
  account = openAccount(service.origin, await service.makeKey("row bytes", "paid"))
})

afterAll(async () => await opened.disposeAsync())

async function flow(): Promise<void> {
  const { id, ffprobe } = await account.upload("film.mp4", film)
  expect(JSON.stringify(ffprobe).length).toBeGreaterThan(PROBE_LENGTH_MIN)
  const body = {
    ffmpeg_command: "ffmpeg -i {{in_1}} -map 0 -c copy -movflags +faststart {{out_1}}",
    input_files: { in_1: `svc_id://${id}` },
    output_files: { out_1: "result.mp4" },
    webhook,
  }
  const { record } = await account.run(body)
  expect(record?.status).toBe("success")
}

function openDatabase(): DatabaseSync {
  const paths = globSync(join(stateDir, "v3/d1/*/*.sqlite"))
  const path = paths.find((each) => !each.endsWith("metadata.sqlite"))
  return new DatabaseSync(path ?? "", { readOnly: true })
}

/** Bytes that rows and entries of indexes take. */
function usedBytes(): number {
  using database = openDatabase()
  const row = database.prepare("select sum(pgsize - unused) as bytes from dbstat").get()
  return Number(row?.["bytes"])
}

function webhooksDone(): number {
  using database = openDatabase()
  const sql = "select count(*) as n from deliveries where completed_at is not null"
  return Number(database.prepare(sql).get()?.["n"])
}

test("a finished upload, command and webhook leave little more than 4 KB", async () => {
  await flow()
  await expect.poll(webhooksDone).toBe(1)
  const before = usedBytes()
  for (let done = 0; done < FLOWS; done += 1) await flow()
  await untilReceived(FLOWS + 1)
  await expect.poll(webhooksDone).toBe(FLOWS + 1)
  const bytes = (usedBytes() - before) / FLOWS
  expect(bytes).toBeLessThan(BYTES_MAX)
})
