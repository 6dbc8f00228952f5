import { request } from "node:http"
import type { ClientRequest, IncomingMessage } from "node:http"
import { z } from "zod"

const BOUNDARY = "a-boundary-of-the-tests"
const HEAD =
  `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="slow.bin"\r\n` +
  "Content-Type: application/octet-stream\r\n\r\n"
const TAIL = `\r\n--${BOUNDARY}--\r\n`

const answerBody = z
  .looseObject({
    code_name: z.string().nullable().default(null),
    id: z.string().nullable().default(null),
  })
  .catch({ code_name: null, id: null })

/** How the service answered; `code` is that of an error, `id` that of what was made. */
export type Answer = {
  status: number
  code: string | null
  id: string | null
  headers: IncomingMessage["headers"]
}

/** A body that is sent piece by piece, as an upload or as what `headers` say. */
export type SlowBody = {
  /** Sends bytes; resolves when the connection has taken them, or is gone. */
  send(bytes: Uint8Array | string): Promise<void>
  /** Sends the end of the multipart body. */
  end(): void
  /** Closes the connection in the middle. */
  hangUp(): void
  /** The answer; one whose connection was closed without any has the status 0. */
  answered: Promise<Answer>
}

/** Begins a body in chunks, or of a declared length where the headers say one. */
export function openSlowBody(url: string, headers: Record<string, string | number>): SlowBody {
  const outgoing = request(url, { method: "POST", headers, agent: false })
  outgoing.flushHeaders()
  const gone = new Promise<void>((resolve) => {
    outgoing.once("close", resolve)
  })
  return {
    send: (bytes) => Promise.race([gone, sendBytes(outgoing, bytes)]),
    end: () => void outgoing.end(),
    hangUp: () => outgoing.destroy(),
    answered: readAnswer(outgoing),
  }
}

/** Begins an upload of a file with a key; the bytes of the file are sent by `send`. */
export async function openSlowUpload(
  origin: string,
  { key, sizeBytes }: { key: string; sizeBytes?: number },
): Promise<SlowBody> {
  const length = sizeBytes === undefined ? {} : { "content-length": lengthOf(sizeBytes) }
  const upload = openSlowBody(`${origin}/v1/files`, {
    "x-api-key": key,
    "content-type": `multipart/form-data; boundary=${BOUNDARY}`,
    ...length,
  })
  await upload.send(HEAD)
  return {
    ...upload,
    end() {
      void upload.send(TAIL).then(() => upload.end())
    },
  }
}

/** Uploads a file as a caller does who waits for leave to send it (`Expect: 100-continue`). */
export async function sendFile(
  origin: string,
  { key, bytes }: { key: string; bytes: Uint8Array },
): Promise<Answer> {
  const outgoing = request(`${origin}/v1/files`, {
    method: "POST",
    agent: false,
    headers: {
      "x-api-key": key,
      "content-type": `multipart/form-data; boundary=${BOUNDARY}`,
      "content-length": lengthOf(bytes.byteLength),
      expect: "100-continue",
    },
  })
  outgoing.once("continue", () =>
    outgoing.end(Buffer.concat([Buffer.from(HEAD), bytes, Buffer.from(TAIL)])),
  )
  outgoing.flushHeaders()
  return await readAnswer(outgoing)
}

/** Length of the multipart body of a file of this size. */
function lengthOf(sizeBytes: number): number {
  return HEAD.length + sizeBytes + TAIL.length
}

async function sendBytes(outgoing: ClientRequest, bytes: Uint8Array | string): Promise<void> {
  await new Promise<void>((resolve) => {
    outgoing.write(bytes, () => resolve())
  })
}

async function readAnswer(outgoing: ClientRequest): Promise<Answer> {
  return await new Promise<Answer>((resolve) => {
    // A connection that is closed while its body is sent may still have brought an answer.
    outgoing.on("error", () => undefined)
    outgoing.once("close", () => resolve({ status: 0, code: null, id: null, headers: {} }))
    outgoing.once("response", (answer) => {
      const chunks: Buffer[] = []
      answer.on("data", (chunk: Buffer) => chunks.push(chunk))
      answer.once("close", () => {
        const { statusCode: status = 0, headers } = answer
        const { code_name: code, id } = answerBody.parse(parse(Buffer.concat(chunks).toString()))
        resolve({ status, headers, code, id })
        outgoing.destroy()
      })
    })
  })
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
