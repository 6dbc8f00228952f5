import { readFile } from "node:fs/promises"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { COMMAND_RECIPES } from "../../../src/dashboard/pages/playground/recipes.ts"
import { makeFilm } from "../../browser/film.ts"
import { openAccount } from "../../corpus/account.ts"
import type { Account } from "../../corpus/account.ts"
import { startService } from "../service.ts"

const opened = new AsyncDisposableStack()
let account: Account
let film: string

describe("the recipes of the playground", () => {
  beforeAll(async () => {
    const service = opened.use(await startService())
    account = openAccount(service.origin, await service.makeKey("cook", "paid"))
    const { path } = opened.use(await makeFilm())
    const { id } = await account.upload("film.mp4", new Uint8Array(await readFile(path)))
    film = `svc_id://${id}`
  })

  afterAll(async () => await opened.disposeAsync())

  it.concurrent.each(COMMAND_RECIPES)(
    "include $id, which has the described output",
    async (recipe) => {
      const { input_files: inputs, output_files, ffmpeg_command = "" } = recipe
      const input_files = Object.fromEntries(Object.keys(inputs).map((key) => [key, film]))
      const { record, refused } = await account.run({ input_files, output_files, ffmpeg_command })
      expect(refused).toBeNull()
      const output = { name: output_files["out_1"], size_bytes: expect.any(Number) }
      expect(record).toMatchObject({
        status: "success",
        warnings: [],
        output_files: { out_1: output },
      })
    },
  )
})
