import { beforeAll, describe, expect, it } from "vitest"
import { z } from "zod"
import { COMMAND_RECIPES } from "../../src/dashboard/pages/playground/recipes.ts"
import { makeSignedInUser } from "../support/accounts/signed-in.ts"
import type { SignedInCaller } from "../support/accounts/signed-in.ts"

const ORIGIN = "https://lathe.test"
const COMMAND = {
  output_files: { out_1: "made.mp4" },
  ffmpeg_command: "ffmpeg -f lavfi -i testsrc2=duration=1 {{out_1}}",
}

let user: SignedInCaller

beforeAll(async () => {
  user = await makeSignedInUser()
})

describe("the page of the playground", () => {
  it("passes its recipes to its script", async () => {
    const html = await textOf(await user.visit("/playground"))
    const json = /data-playground="([^"]*)"/.exec(html)?.[1]?.replaceAll("&quot;", '"') ?? "[]"
    expect(JSON.parse(json.replaceAll("&amp;", "&").replaceAll("&#39;", "'"))).toEqual(
      COMMAND_RECIPES,
    )
    for (const { title } of COMMAND_RECIPES) expect(html).toContain(`>${title}</option>`)
  })

  it("names the API to a browser without scripts", async () => {
    const html = await textOf(await user.visit("/playground"))
    expect(/<noscript>(.*?)<\/noscript>/s.exec(html)?.[1]).toContain('href="/docs/guide/commands"')
  })

  it("shows the job of a command, and no job of another account", async () => {
    const { command_id: id } = created.parse(await (await post("/v1/commands", COMMAND)).json())
    const path = `/playground?job=${id}`
    expect(await textOf(await user.visit(path))).toContain(`data-follow="${id}"`)
    expect(await textOf(await (await makeSignedInUser()).visit(path))).not.toContain(id)
  })
})

describe("the session of the page", () => {
  it.each(COMMAND_RECIPES.map((recipe) => [recipe.id, recipe] as const))(
    "checks the recipe %s, which can run once its files are chosen",
    async (_, { output_files, ffmpeg_command, ...recipe }) => {
      const keys = Object.keys(recipe.input_files)
      const input_files = Object.fromEntries(keys.map((key) => [key, `https://example.com/${key}`]))
      const body = { input_files, output_files, ffmpeg_command }
      const answer = await post("/v1/commands/validate", body)
      expect(await answer.json()).toMatchObject({ valid: true, errors: [] })
    },
  )

  it.each([
    ["another site", "https://elsewhere.test"],
    ["an unknown place", null],
  ])("runs no command from %s", async (_, origin) => {
    const answer = await post("/v1/commands", COMMAND, origin)
    expect(answer.status).toBe(403)
  })
})

const created = z.object({ command_id: z.uuid() })

async function post(path: string, body: object, origin: string | null = ORIGIN) {
  return await user.visit(path, {
    method: "POST",
    headers: { "content-type": "application/json", ...(origin !== null && { origin }) },
    body: JSON.stringify(body),
  })
}

async function textOf(answer: Response): Promise<string> {
  expect(answer.status).toBe(200)
  return await answer.text()
}
