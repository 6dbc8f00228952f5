import { z } from "zod"

const made = z.looseObject({
  id: z.string(),
  name: z.string(),
  download_url: z.url(),
  files: z.array(z.looseObject({ name: z.string(), download_url: z.url() })).optional(),
})
export const commandRecord = z.looseObject({
  id: z.string(),
  status: z.string(),
  error: z.string().optional(),
  error_code: z.string().optional(),
  processing_errors: z.array(z.string()).optional(),
  warnings: z.array(z.object({ code: z.string(), message: z.string() })),
  output_files: z.record(z.string(), z.union([z.string(), made])),
})
const file = z.looseObject({
  id: z.string(),
  name: z.string(),
  status: z.string(),
  download_url: z.url(),
  ffprobe: z.looseObject({}).nullable(),
  ffprobe_error: z.string().optional(),
})

export type MadeFile = z.infer<typeof made>
export type CommandRecord = z.infer<typeof commandRecord>
export type FileRecord = z.infer<typeof file>

/** The body of POST /commands. */
export type CommandBody = {
  ffmpeg_command?: string
  ffmpeg_commands?: string[]
  input_files: Record<string, string>
  output_files: Record<string, string>
}

/** Result of a create: the record of the ended job, or the refusal. */
export type Outcome =
  | { refused: null; record: CommandRecord }
  | { refused: { status: number; text: string }; record: null }

/** Someone who uses a running service with a key, and waits for what comes of it. */
export type Account = {
  call(path: string, init?: RequestInit): Promise<Response>
  /** Uploads a file and waits for the end of its probe. */
  upload(name: string, content: string | Uint8Array<ArrayBuffer>): Promise<FileRecord>
  /** Creates a command and waits for its end. */
  run(body: CommandBody): Promise<Outcome>
  /** Creates a command and answers its id at once; throws what was answered where it is refused. */
  start(body: CommandBody): Promise<string>
  find(id: string): Promise<CommandRecord>
  download(url: string): Promise<Uint8Array<ArrayBuffer>>
}

const WAIT = { prefer: "wait=30" }
const FINAL = new Set(["success", "failed"])

/** An account of the service at `origin` by one of its keys. */
export function openAccount(origin: string, key: string): Account {
  async function call(path: string, init: RequestInit = {}): Promise<Response> {
    const url = path.startsWith("http") ? path : `${origin}/v1${path}`
    const headers = new Headers(init.headers)
    headers.set("x-api-key", key)
    return await fetch(url, { ...init, headers })
  }
  async function post(body: CommandBody, headers: Record<string, string> = {}): Promise<Response> {
    const type = { "content-type": "application/json" }
    const init = { method: "POST", headers: { ...type, ...headers }, body: JSON.stringify(body) }
    return await call("/commands", init)
  }
  async function find(id: string, headers: Record<string, string> = {}): Promise<CommandRecord> {
    return commandRecord.parse(await (await call(`/commands/${id}`, { headers })).json())
  }
  return {
    call,
    find,
    async upload(name, content) {
      const body = new FormData()
      body.append("file", new Blob([content]), name)
      const answer = await call("/files", { method: "POST", body, headers: WAIT })
      let found = file.parse(await answer.json())
      while (!FINAL.has(found.status)) {
        found = file.parse(await (await call(`/files/${found.id}`, { headers: WAIT })).json())
      }
      return found
    },
    async run(body) {
      const answer = await post(body, WAIT)
      const text = await answer.text()
      if (answer.status !== 202) return { record: null, refused: { status: answer.status, text } }
      let record = commandRecord.parse(JSON.parse(text))
      while (!FINAL.has(record.status)) record = await find(record.id, WAIT)
      return { record, refused: null }
    },
    async start(body) {
      const answer = await post(body)
      const text = await answer.text()
      if (answer.status !== 202) throw new Error(text)
      return z.object({ command_id: z.string() }).parse(JSON.parse(text)).command_id
    },
    async download(url) {
      const answer = await call(url)
      if (!answer.ok) throw new Error(`${url} answered ${answer.status}`)
      return new Uint8Array(await answer.arrayBuffer())
    },
  }
}

/** The outputs of a record that have been made. */
export function madeFiles(record: CommandRecord): MadeFile[] {
  return Object.values(record.output_files).flatMap((each) =>
    typeof each === "string" ? [] : [each],
  )
}
