import { buffer } from "node:stream/consumers"
import { z } from "zod"
import { jsonBody } from "../caller.ts"
import type { Body, Caller } from "../caller.ts"
import { uploadFile } from "../requests.ts"
import type { BenchService } from "../service.ts"
import { REMUX_WORDS } from "./contender.ts"
import type { Contender } from "./contender.ts"
import { FILM_NAME } from "./film.ts"

const WAITS = { prefer: "wait=60" }

const command = z.object({
  status: z.literal("success"),
  output_files: z.object({ out_1: z.object({ download_url: z.url() }) }),
})

export type Film = Pick<Body, "sizeBytes" | "chunks">

/** This service as a caller uses it that wants its answer soon: in as few requests as there can be. */
export type Lathe = Contender & {
  /** Uploads a film and waits for its ffprobe; its id. */
  upload: (film: Film) => Promise<string>
  /** As of a contender; this service keeps files. */
  remuxStored: () => Promise<void>
}

export async function openLathe({ caller }: BenchService, film: Film): Promise<Lathe> {
  async function upload(file: Film): Promise<string> {
    const { id, ffprobe } = await uploadFile(caller, FILM_NAME, file, WAITS)
    if (!ffprobe) throw new Error("a file that was probed has no ffprobe")
    return id
  }
  async function remux(fileId: string): Promise<void> {
    const order = {
      ffmpeg_command: `ffmpeg -i {{in_1}} ${REMUX_WORDS.join(" ")} {{out_1}}`,
      input_files: { in_1: `svc_id://${fileId}` },
      output_files: { out_1: "remuxed.mp4" },
    }
    const { text } = await caller.ask("POST", "/v1/commands", jsonBody(order), WAITS)
    const { download_url } = command.parse(JSON.parse(text)).output_files.out_1
    await download(caller, download_url)
  }
  const storedId = await upload(film)
  return {
    upload,
    async probe() {
      await upload(film)
    },
    async remux() {
      // The probe of the upload is a task beside that of the command, which needs not wait for it.
      const { id } = await uploadFile(caller, FILM_NAME, film)
      await remux(id)
    },
    remuxStored: async () => await remux(storedId),
  }
}

/** Reads a file where its address sends the caller: to a signed link. */
async function download(caller: Caller, url: string): Promise<void> {
  const redirect = await caller.open(url)
  redirect.resume()
  const answer = await caller.open(redirect.headers.location ?? "")
  const bytes = await buffer(answer)
  if (answer.statusCode !== 200 || bytes.byteLength === 0) {
    throw new Error(`a link was answered ${answer.statusCode} with ${bytes.byteLength} bytes`)
  }
}
