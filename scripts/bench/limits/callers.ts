import { setTimeout as sleep } from "node:timers/promises"
import { z } from "zod"

/** What callers send, and when they end. */
export type Load = {
  origin: string
  /** A file to upload. */
  media: Uint8Array<ArrayBuffer>
  /** A page with a video. */
  pageUrl: string
  isOver: () => boolean
  /** How often each status and code was answered, by all callers. */
  tally: Map<string, number>
}

type Answered = { status: number; body: unknown }

const PAUSE_MS = 25
/** A caller that is refused looks again after a while. */
const REFUSED_PAUSE_MS = 200
const PAGE = 100

const problem = z.looseObject({ code_name: z.string() })
const row = z.looseObject({ id: z.string() })
const rows = z.array(row)
const job = z.looseObject({
  id: z.string(),
  outputs: z.array(z.looseObject({ url: z.string() })).optional(),
})

/** Does what the callers of one account do, all at once, until the load is over. */
export async function runCallers(load: Load, key: string): Promise<void> {
  const send = sender(load, key)
  await Promise.all([
    repeat(load, () => uploadFile(load, send)),
    repeat(load, () => createCommand(send)),
    repeat(load, () => fetchPage(load, send)),
    repeat(load, () => read(send)),
    repeat(load, () => read(send)),
    repeat(load, () => clearJobs(send)),
  ])
}

/** Reads as often as it is answered, and more often than it may. */
export async function runHastyReader(load: Load, key: string): Promise<void> {
  const send = sender(load, key)
  while (!load.isOver()) await send("GET", "/v1/account")
}

type Send = (method: string, path: string, body?: FormData | object) => Promise<Answered>

async function repeat(load: Load, act: () => Promise<Answered>): Promise<void> {
  while (!load.isOver()) {
    const { status } = await act()
    await sleep(status < 400 ? PAUSE_MS : REFUSED_PAUSE_MS)
  }
}

/** Sends requests of a key, and notes each answer; one that never comes counts as status 0. */
function sender({ origin, tally }: Load, key: string): Send {
  return async (method, path, body) => {
    const answered = await answerOf(new URL(path, origin), method, { key, body })
    const code = problem.safeParse(answered.body).data?.code_name ?? ""
    const name = `${answered.status} ${code}`.trim()
    tally.set(name, (tally.get(name) ?? 0) + 1)
    return answered
  }
}

async function answerOf(
  url: URL,
  method: string,
  { key, body }: { key: string; body: FormData | object | undefined },
): Promise<Answered> {
  const isForm = body instanceof FormData
  const headers = {
    "x-api-key": key,
    ...(body && !isForm && { "content-type": "application/json" }),
  }
  try {
    const answer = await fetch(url, {
      method,
      headers,
      ...(body && { body: isForm ? body : JSON.stringify(body) }),
    })
    const isJson = answer.headers.get("content-type")?.includes("json") ?? false
    const read = isJson ? await answer.json() : (await answer.bytes()).byteLength
    return { status: answer.status, body: read }
  } catch (error) {
    console.error("no answer:", error)
    return { status: 0, body: null }
  }
}

/** Uploads a file; where the account stores all that it may, deletes the oldest ones. */
async function uploadFile({ media }: Load, send: Send): Promise<Answered> {
  const body = new FormData()
  body.append("file", new File([media], "clip.mp4"))
  const answered = await send("POST", "/v1/files", body)
  if (answered.status !== 403) return answered
  const { body: listed } = await send("GET", `/v1/files?limit=${PAGE}`)
  const old = rows.safeParse(listed).data?.slice(-PAGE / 4) ?? []
  for (const { id } of old) await send("DELETE", `/v1/files/${id}`)
  return answered
}

async function createCommand(send: Send): Promise<Answered> {
  const { body } = await send("GET", "/v1/files?limit=1&source=upload&status=success")
  const [file] = rows.safeParse(body).data ?? []
  if (!file) return { status: 404, body }
  return await send("POST", "/v1/commands", {
    ffmpeg_command: "ffmpeg -i {{in_1}} -c copy {{out_1}}",
    input_files: { in_1: `svc_id://${file.id}` },
    output_files: { out_1: "copy.mp4" },
  })
}

async function fetchPage({ pageUrl }: Load, send: Send): Promise<Answered> {
  return await send("POST", "/v1/fetch", { url: pageUrl })
}

/** What somebody looks at who follows jobs: the account, lists, a job and what it made. */
async function read(send: Send): Promise<Answered> {
  await send("GET", "/v1/account")
  await send("GET", "/v1/account/usage")
  await send("GET", "/v1/files?limit=20")
  const listed = await send("GET", "/v1/jobs?limit=5&status=completed")
  const [first] = z.array(job).safeParse(listed.body).data ?? []
  if (!first) return listed
  const url = first.outputs?.[0]?.url
  return url === undefined ? listed : await send("GET", url)
}

/** Deletes some of the jobs that are over, with what they made. */
async function clearJobs(send: Send): Promise<Answered> {
  const listed = await send("GET", `/v1/jobs?limit=${PAGE}&status=completed`)
  const old = rows.safeParse(listed.body).data?.slice(PAGE / 2) ?? []
  for (const { id } of old) await send("DELETE", `/v1/jobs/${id}`)
  await sleep(REFUSED_PAUSE_MS)
  return listed
}
