import { expect, test } from "vitest"
import { audioArguments } from "../../../../container/tools/renditions/audio-encoder.ts"

test("sound of one channel stays so, and more than two become two", () => {
  const counts = [1, 2, 6].map((channels) => audioArguments("mp4", { channels, sampleRate: null }))
  expect(counts.map((words) => words[words.indexOf("-ac") + 1])).toEqual(["1", "2", "2"])
})
