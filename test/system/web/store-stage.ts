import { createHash } from "node:crypto"
import { expect } from "vitest"
import { z } from "zod"
import { startUnusualS3Server } from "../../support/store/odd-store.ts"
import { S3_TEST_CREDENTIALS, startS3TestServer } from "../../support/store/store.ts"
import { startTcpTestProxy } from "../../support/store/wire.ts"
import { openSoundStage } from "../media/sound-stage.ts"

const created = z.looseObject({ id: z.uuid() })
const record = z.looseObject({
  id: z.uuid(),
  status: z.string(),
  name: z.string(),
  source_url: z.string(),
  download_url: z.url(),
  size_bytes: z.int().nullable(),
  error_code: z.string().optional(),
  error: z.string().optional(),
})

/** A store behind a wire, and a service that may read its buckets. */
export type StoreStage = Awaited<ReturnType<typeof openStoreStage>>

/**
 * Starts them. Beside `films` the service is told of `locked`, with a wrong secret, `absent`, which
 * the store does not have, `nowhere`, where nothing listens, and `odd`, of a store that has these
 * bytes.
 */
export async function openStoreStage(oddBytes: Buffer) {
  await using opened = new AsyncDisposableStack()
  const store = opened.use(await startS3TestServer("films"))
  const wire = opened.use(await startTcpTestProxy(store.port))
  const odd = opened.use(
    await startUnusualS3Server(oddBytes, `${store.endpoint}/films/raw/clip.wav`),
  )
  const films = {
    bucket: "films",
    endpoint: wire.endpoint,
    region: "us-east-1",
    ...S3_TEST_CREDENTIALS,
  }
  const sources = [
    films,
    { ...films, bucket: "locked", secret_access_key: "another-secret-that-nobody-sees" },
    { ...films, bucket: "absent" },
    { ...films, bucket: "nowhere", endpoint: "http://127.0.0.1:9" },
    { ...films, bucket: "odd", endpoint: odd.origin },
  ]
  const service = opened.use(
    await openSoundStage("stores", {
      ALLOWED_PRIVATE_HOSTS: "",
      REFUSE_PUBLIC_HOSTS: "true",
      S3_SOURCES: JSON.stringify(sources),
    }),
  )

  async function begin(url: string): Promise<string> {
    const answer = await service.postJson("/files", { file_url: url })
    expect(answer.status).toBe(201)
    return created.parse(await answer.json()).id
  }
  async function readFileEnd(id: string) {
    return await service.readEnd(`/files/${id}`, record)
  }
  const whole = opened.move()
  return {
    ...service,
    store,
    wire,
    /** Begins to bring in what a URL names; the id of the file. */
    begin,
    readFileEnd,
    bringIn: async (url: string) => await readFileEnd(await begin(url)),
    /** Tries a job again; the record of its file at its end. */
    async retry(id: string) {
      const answer = await service.call(`/jobs/${id}/retry`, { method: "POST" })
      return await readFileEnd(created.parse(await answer.json()).id)
    },
    /** The SHA-256 of what a URL of a record leads to. */
    digestOf: async (url: string) =>
      hash(Buffer.from(await (await service.call(url)).arrayBuffer())),
    [Symbol.asyncDispose]: async () => await whole.disposeAsync(),
  }
}

export function hash(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex")
}
