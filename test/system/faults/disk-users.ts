import { randomBytes } from "node:crypto"
import { z } from "zod"
import type { ServiceProcess } from "../../../scripts/cli/service-process.ts"
import { openAccount } from "../../corpus/account.ts"
import type { Account } from "../../corpus/account.ts"
import { sendFile } from "../media/slow-upload.ts"
import { waveHeader } from "../../container/wave.ts"

/** A command that needs no input and little disk. */
export const SMALL_COMMAND = {
  ffmpeg_command: "ffmpeg -f lavfi -i testsrc2=s=64x64:d=0.2 -c:v mpeg4 {{out_1}}",
  input_files: {},
  output_files: { out_1: "a.mp4" },
}

/** The answer to a command that was created. */
export const createdCommand = z.object({ command_id: z.string() })

/** An account that also sends bytes which are no media, and says what was answered. */
type Sender = Account & { send(bytes: number): ReturnType<typeof sendFile> }

/** Opens a new account of a service. */
export async function openSender(service: ServiceProcess, name: string): Promise<Sender> {
  const { origin } = service
  const key = await service.makeKey(name)
  return {
    ...openAccount(origin, key),
    send: (bytes) => sendFile(origin, { key, bytes: randomBytes(bytes) }),
  }
}

/** Sends a create, or another request with a JSON body. */
export async function create(account: Account, body: object, path = "/commands") {
  const headers = { "content-type": "application/json" }
  const init = { method: "POST", headers, body: JSON.stringify(body) }
  const answer = await account.call(path, init)
  return { status: answer.status, text: await answer.text() }
}

/** A sound of this size, as a WAV file. */
export function makeWave(bytes: number): Uint8Array<ArrayBuffer> {
  const wave = Buffer.alloc(bytes)
  waveHeader(bytes - 44, 48_000).copy(wave)
  return new Uint8Array(wave)
}
