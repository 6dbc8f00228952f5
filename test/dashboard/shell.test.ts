import { execFileSync } from "node:child_process"
import { expect, it } from "vitest"
import { makeCurlDownloadCommand } from "../../src/dashboard/pages/curl-command.ts"

const URL = "https://lathe.test/v1/files/1/x.mp4"

const NAMES = ["plain", "it's", '"$(touch x)"', "a\\b", "`id`", "a b\nc", "$LATHE_KEY", "ü‮x", ""]

it.each([...NAMES, "-x 'y'.mp4"])(
  "the command to copy downloads to the name %j with the key in a variable",
  (name) => {
    const words = ["-L", "-H", "X-API-Key: the key", "-o", name.replace(/^-/, "./-"), URL]
    expect(wordsOf(makeCurlDownloadCommand({ url: URL, name }))).toEqual(words)
  },
)

/** The words that a shell hands to curl. */
function wordsOf(line: string): string[] {
  const script = `curl() { for word; do printf '%s\\0' "$word"; done; }; ${line}`
  const told = execFileSync("sh", ["-c", script], { env: { LATHE_KEY: "the key" } }).toString()
  return told.split("\0").slice(0, -1)
}
