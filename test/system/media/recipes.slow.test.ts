import { openAsBlob } from "node:fs"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { z } from "zod"
import { COMMAND_RECIPES } from "../../../src/dashboard/pages/playground/recipes.ts"
import { makeFilm } from "../../browser/film.ts"
import { startService } from "../service.ts"
import type { TestService } from "../service.ts"

const opened = new AsyncDisposableStack()
let service: TestService
let key: string
let film: string

describe("the recipes of the playground", () => {
  beforeAll(async () => {
    service = opened.use(await startService())
    key = await service.makeKey("cook", "paid")
    const { path } = opened.use(await makeFilm())
    const body = new FormData()
    body.append("file", await openAsBlob(path), "film.mp4")
    const { id } = await call("/files", body)
    film = `svc_id://${String(id)}`
  })

  afterAll(async () => await opened.disposeAsync())

  it.concurrent.each(COMMAND_RECIPES)(
    "include $id, which has the described output",
    async (recipe) => {
      const { input_files: inputs, output_files, ffmpeg_command } = recipe
      const input_files = Object.fromEntries(Object.keys(inputs).map((key) => [key, film]))
      const made = await call("/commands", { input_files, output_files, ffmpeg_command })
      const told = expect.objectContaining({
        name: output_files["out_1"],
        size_bytes: expect.any(Number),
      })
      expect(made).toMatchObject({ status: "success", warnings: [], output_files: { out_1: told } })
    },
  )
})

/** Sends a form or JSON, and waits for the end of what it began. */
async function call(path: string, body: FormData | object): Promise<Record<string, unknown>> {
  const isForm = body instanceof FormData
  const answer = await fetch(`${service.origin}/v1${path}`, {
    method: "POST",
    headers: {
      "x-api-key": key,
      prefer: "wait=60",
      ...(!isForm && { "content-type": "application/json" }),
    },
    body: isForm ? body : JSON.stringify(body),
  })
  return z.record(z.string(), z.unknown()).parse(await answer.json())
}
