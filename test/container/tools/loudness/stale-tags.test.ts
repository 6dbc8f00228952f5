import { expect, test } from "vitest"
import { staleTagRemovalArguments } from "../../../../container/tools/loudness/gain-arguments.ts"

test("stale loudness tags are removed", () => {
  const tags = { title: "A title", REPLAYGAIN_TRACK_GAIN: "-3 dB", "BPS-eng": "128000" }
  expect(staleTagRemovalArguments(tags, ":s:a:0")).toEqual([
    "-metadata:s:a:0",
    "REPLAYGAIN_TRACK_GAIN=",
    "-metadata:s:a:0",
    "BPS-eng=",
  ])
})

test("many and long tags do not fill the words of a command", () => {
  const keys = Array.from({ length: 60_000 }, (_, at) => `replaygain_${at}`)
  const tags = Object.fromEntries(keys.map((key) => [key, "1"]))
  const long = { [`replaygain_${"a".repeat(200_000)}`]: "1" }
  expect(staleTagRemovalArguments({ ...long, ...tags }, "").join(" ").length).toBeLessThan(4096)
})
