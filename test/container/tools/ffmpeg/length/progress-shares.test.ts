import { expect, test } from "vitest"
import { divideProgressAmongCommands } from "../../../../../container/tools/ffmpeg/length/progress-shares.ts"

const KNOWN = new Map(Object.entries({ "a.mp4": 90, "b.mp4": 30 }))

test.for<[string[], number[]]>([
  [["-i a.mp4 one.mp4"], [1]],
  [
    ["-i a.mp4 one.mp4", "-i b.mp4 two.mp4"],
    [0.75, 1],
  ],
  [
    ["-i a.mp4 -pass 1 -f null -", "-i a.mp4 -pass 2 two.mp4"],
    [0.5, 1],
  ],
  // A later command reads the output of an earlier one.
  [
    ["-ss 60 -i a.mp4 part.mp4", "-stream_loop 1 -i part.mp4 two.mp4"],
    [1 / 3, 1],
  ],
  [
    ["-i b.mp4 -frames:v 25 %d.png", "-i a.mp4 -t 9 two.mp4"],
    [0.1, 1],
  ],
  // Shares are equal if one duration is unknown.
  [
    ["-i c.mp4 one.mp4", "-i a.mp4 two.mp4", "-i b.mp4 three.mp4"],
    [1 / 3, 2 / 3, 1],
  ],
])("the commands %j end at the shares %j", ([commands, ends]) => {
  const shares = divideProgressAmongCommands(
    commands.map((command) => command.split(" ")),
    KNOWN,
  )
  for (const [index, { from, to }] of shares.entries()) {
    expect(from).toBeCloseTo(ends[index - 1] ?? 0)
    expect(to).toBeCloseTo(ends[index] ?? 0)
  }
})
