import { beforeAll, describe, expect, it } from "vitest"
import { RECIPES } from "../../src/dashboard/pages/playground/recipes.ts"
import { signIn } from "../support/signed-in.ts"
import type { SignedInCaller } from "../support/signed-in.ts"

const ORIGIN = "https://lathe.test"
const COMMAND = "ffmpeg -f lavfi -i testsrc2=duration=1 {{out_1}}"

let user: SignedInCaller

beforeAll(async () => {
  user = await signIn()
})

describe("the playground", () => {
  it("begins with a command that can be run", async () => {
    const html = await textOf(await user.visit("/playground"))
    expect(html).toContain("This can be run.")
    expect(html).toContain("$LATHE_KEY")
  })

  it.each(RECIPES.map(({ id, inputs }) => [id, Object.keys(inputs).length] as const))(
    "has a recipe %s that can be run once its files are chosen",
    async (recipe, count) => {
      const files = Array.from({ length: count }, (_, at) => `https://example.com/${at}.mp4`)
      const rows = files.flatMap((file, at): [string, string][] => [
        ["input_key", `key_${at}`],
        ["input_file", file],
      ])
      const html = await textOf(await send("recipe", [["recipe", recipe], ...rows]))
      expect(html).toContain("This can be run.")
      for (const file of files) expect(html).toContain(`value="${file}"`)
    },
  )

  it("asks for the files of a recipe", async () => {
    const html = await textOf(await send("recipe", [["recipe", "concat"]]))
    expect(html.match(/choose a file, or give a URL/g)).toHaveLength(2)
    expect(html).toContain("This cannot be run yet")
  })

  it("says at each field what is wrong with it", async () => {
    const html = await textOf(
      await send("check", [
        ["input_key", "in_1"],
        ["input_file", "svc_id://00000000-0000-7000-8000-000000000000"],
        ["output_key", "out_1"],
        ["output_name", "../<x>"],
        ["output_key", "out_1"],
        ["output_name", "b.mp4"],
        ["command", "ffmpeg -i {{in_1}} {{in_2}}"],
      ]),
    )
    expect(partOf(html, "error-input-0")).toContain("there is no such file")
    expect(partOf(html, "error-output-0")).toContain("this key stands twice")
    expect(partOf(html, "error-command")).toContain("in_2")
    expect(html).toContain('value="../&lt;x&gt;"')
  })

  it("adds and removes rows, and keeps what was typed", async () => {
    const row: [string, string][] = [
      ["output_key", "out_1"],
      ["output_name", "a.mp4"],
    ]
    const added = await textOf(await send("add-output", [...row, ["command", "ffmpeg typed"]]))
    expect(added).toContain('value="out_2"')
    expect(added).toContain("ffmpeg typed")
    const dropped = await textOf(await send("drop-output-0", row))
    expect(dropped).not.toContain('value="a.mp4"')
  })

  it("runs a command, and shows its job", async () => {
    const answer = await run("a-click-of-mine")
    const path = answer.headers.get("location") ?? ""
    expect(answer.status).toBe(303)
    const html = await textOf(await user.visit(path.replace("#result", "")))
    expect(html).toContain("data-follow")
    expect(html).toContain("testsrc2=duration=1")
  })

  it("runs it once for each click", async () => {
    const [one, two] = [await run("one-click-only"), await run("one-click-only")]
    expect(two.headers.get("location")).toBe(one.headers.get("location"))
    const other = await run("one-click-only", COMMAND.replace("1 ", "2 "))
    expect(other.status).toBe(303)
    expect(other.headers.get("location")).not.toBe(one.headers.get("location"))
  })

  it("runs lines that begin with ffmpeg one after the other", async () => {
    const answer = await run("several-lines", `${COMMAND}\r\nffmpeg -i {{in_7}} {{out_1}}`)
    expect(answer.status).toBe(422)
    expect(partOf(await answer.text(), "error-command")).toContain("command 2: ")
  })

  it.each(["input_key", "output_key"])(
    "takes no more rows of %s than a command has files",
    async (row) => {
      const rows = Array.from({ length: 65 }, (): [string, string] => [row, "a"])
      expect((await send("add-input", rows.slice(1))).status).toBe(200)
      const answer = await send("add-input", rows)
      expect(answer.status).toBe(422)
      expect(await answer.text()).toContain("there are 65 rows; expected at most 64")
    },
  )

  it("says why a command is not run", async () => {
    const answer = await run("a-wrong-command", "rm -rf /")
    expect(answer.status).toBe(422)
    expect(partOf(await answer.text(), "error-command")).toContain("begins with ffmpeg")
  })
})

async function send(action: string, fields: [string, string][]): Promise<Response> {
  return await user.visit("/playground", {
    method: "POST",
    headers: { origin: ORIGIN },
    body: new URLSearchParams([...fields, ["action", action]]),
  })
}

async function run(once: string, command = COMMAND): Promise<Response> {
  return await send("run", [
    ["once", once],
    ["output_key", "out_1"],
    ["output_name", "made.mp4"],
    ["command", command],
  ])
}

async function textOf(answer: Response): Promise<string> {
  expect(answer.status).toBe(200)
  return await answer.text()
}

/** What stands in an element of the page, up to the end of the first one of its kind. */
function partOf(html: string, id: string): string {
  return new RegExp(`id="${id}"[^>]*>(.*?)</div>`, "s").exec(html)?.[1] ?? ""
}
