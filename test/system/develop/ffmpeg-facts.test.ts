import { gzipSync } from "node:zlib"
import { afterAll, beforeAll, expect, it } from "vitest"
import { z } from "zod"
import image from "../../../src/kinds/command/facts/image.json" with { type: "json" }
import { startService } from "../service.ts"
import type { TestService } from "../service.ts"

const answered = z.looseObject({ status: z.unknown(), message: z.string().optional() })

let service: TestService
let key: string

beforeAll(async () => {
  const facts = gzipSync(JSON.stringify(image), { level: 9 }).toString("base64")
  service = await startService({ FFMPEG_FACTS: facts })
  key = await service.makeKey("facts")
})

afterAll(async () => {
  await service[Symbol.asyncDispose]()
})

async function ffmpeg(words: string) {
  const answer = await fetch(`${service.origin}/v1/commands`, {
    method: "POST",
    headers: { "x-api-key": key, "content-type": "application/json", prefer: "wait=30" },
    body: JSON.stringify({
      ffmpeg_command: `ffmpeg -f lavfi -i testsrc2=s=64x64:d=0.2 ${words} {{out_1}}`,
      output_files: { out_1: "out.mp4" },
    }),
  })
  return answered.parse(await answer.json())
}

it("a service checks commands by the noted capabilities of its ffmpeg", async () => {
  const wrong = await ffmpeg("-vf sclae=32:32")
  expect(wrong.status).toBe(422)
  expect(wrong.message).toContain("did you mean `scale`?")
  expect((await ffmpeg("-vf scale=32:32")).status).toBe("success")
})
