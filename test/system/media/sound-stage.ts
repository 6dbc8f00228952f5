import { openAsBlob } from "node:fs"
import { writeFile } from "node:fs/promises"
import { basename, join } from "node:path"
import { Webhook } from "standardwebhooks"
import { z } from "zod"
import { makeTempFolder } from "../../../scripts/cli/temp-folder.ts"
import { startReceiver } from "../receiver.ts"
import type { ReceivedRequest } from "../receiver.ts"
import { openKeyedCall } from "../operate/keyed-call.ts"
import { startService } from "../service.ts"

const event = z.object({ type: z.string(), data: z.looseObject({ id: z.string() }) })
const openRecord = z.looseObject({ status: z.enum(["pending", "running"]) })
const file = z.looseObject({ id: z.string(), status: z.literal("success") })

/** A service, a receiver of webhooks, a folder, and how tests of sound call. */
export type SoundStage = Awaited<ReturnType<typeof openSoundStage>>

/** Starts it; hosts may be fetched from beside the receiver's own. */
export async function openSoundStage(account: string, settings: Record<string, string> = {}) {
  await using opened = new AsyncDisposableStack()
  const { path: folder } = opened.use(await makeTempFolder(account))
  const receiver = opened.use(await startReceiver())
  const service = opened.use(
    await startService({ ALLOWED_PRIVATE_HOSTS: "127.0.0.1", ...settings }),
  )
  const call = openKeyedCall(service, await service.makeKey(account, "paid"))
  const { secret } = z
    .object({ secret: z.string() })
    .parse(await (await call("/webhooks/secret")).json())

  async function postForm(path: string, fields: Record<string, string | Blob>, name = "") {
    const body = new FormData()
    for (const [key, value] of Object.entries(fields)) {
      if (typeof value === "string") body.append(key, value)
      else body.append(key, value, name)
    }
    return await call(path, { method: "POST", body })
  }
  async function postJson(path: string, body: unknown) {
    const headers = { "content-type": "application/json" }
    return await call(path, { method: "POST", headers, body: JSON.stringify(body) })
  }
  const whole = opened.move()
  return {
    service,
    receiver,
    folder,
    call,
    postJson,
    postForm,
    /** Sends a file as the field `file`, beside others. */
    postFile: async (path: string, source: string, fields: Record<string, string> = {}) =>
      await postForm(path, { ...fields, file: await openAsBlob(source) }, basename(source)),
    /** Stores a file, waits until it is probed, and returns its id. */
    async upload(source: string): Promise<string> {
      const body = new FormData()
      body.append("file", await openAsBlob(source), basename(source))
      const headers = { prefer: "wait=30" }
      const answer = await call("/files", { method: "POST", body, headers })
      return file.parse(await answer.json()).id
    },
    /** The record of a path at its end. */
    async readEnd<Record>(path: string, schema: z.ZodType<Record>): Promise<Record> {
      for (;;) {
        const answer = await call(path, { headers: { prefer: "wait=50" } })
        const record: unknown = await answer.json()
        if (!openRecord.safeParse(record).success) return schema.parse(record)
      }
    },
    /** Downloads what a URL of a record leads to into the folder; the path. */
    async download(url: string, name = basename(new URL(url).pathname)): Promise<string> {
      const answer = await call(url)
      if (!answer.ok || !answer.body) throw new Error(`${url} was answered ${answer.status}`)
      const path = join(folder, name)
      await writeFile(path, answer.body)
      return path
    },
    /** Body of a webhook; throws on a wrong signature. */
    verify({ body, headers }: ReceivedRequest) {
      const texts: Record<string, string> = {}
      for (const [name, value] of Object.entries(headers)) texts[name] = String(value)
      return event.parse(new Webhook(secret).verify(body, texts))
    },
    [Symbol.asyncDispose]: async () => await whole.disposeAsync(),
  }
}
