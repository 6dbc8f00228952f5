import { execFileSync } from "node:child_process"
import { describe, expect, it } from "vitest"
import { curlDownload, curlPost, shellWord } from "../../src/dashboard/pages/shell.ts"

const HOSTILE = ["plain", "it's", '"$(touch x)"', "a\\b", "`id`", "a b\nc", "$LATHE_KEY", "ü‮x", ""]

describe("shellWord", () => {
  it.each(HOSTILE)("is one word of a shell that means %j", (text) => {
    expect(wordsOf(`said ${shellWord(text)}`)).toEqual([text])
  })
})

describe("the lines to copy", () => {
  it("name the key by a variable, and send the body as it is", () => {
    const body = { ffmpeg_command: HOSTILE.join(" "), output_files: { out_1: "it's.mp4" } }
    const words = wordsOf(curlPost("https://lathe.test/v1/commands", body))
    expect(words[0]).toBe("https://lathe.test/v1/commands")
    expect(words).toContain("X-API-Key: the key")
    expect(JSON.parse(words.at(-1) ?? "")).toEqual(body)
  })

  it("download to the name of the file, whatever it begins with", () => {
    const line = curlDownload({ url: "https://lathe.test/v1/files/1/-x.mp4", name: "-x 'y'.mp4" })
    expect(wordsOf(line).slice(-3)).toEqual([
      "-o",
      "./-x 'y'.mp4",
      "https://lathe.test/v1/files/1/-x.mp4",
    ])
  })
})

/** The words that a shell hands to the program of a line. */
function wordsOf(line: string): string[] {
  const script = `curl() { for word; do printf '%s\\0' "$word"; done; }; said() { curl "$@"; }; ${line}`
  const told = execFileSync("sh", ["-c", script], { env: { LATHE_KEY: "the key" } }).toString()
  return told.split("\0").slice(0, -1)
}
