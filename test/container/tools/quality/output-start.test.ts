import { expect, test } from "vitest"
import { outputStart } from "../../../../container/tools/quality/output-start.ts"

test.for([
  ["mov,mp4,m4a,3gp,3g2,mj2", 0.5, [1, 2], 0.5],
  ["matroska,webm", -0.007, [0.02], -0.007],
  ["mpegts", 1.4, [1.923222, 2.099978], 1.923222],
  ["mpegts", 1.4, [], 1.4],
  ["mpeg", 0.5, [0.5, 0.54], 0.5],
] as const)(
  "outputs of %s that starts at %d start at that of %j or at its own",
  ([formatName, startSeconds, mapped, expected]) => {
    expect(outputStart({ formatName, startSeconds }, mapped)).toBe(expected)
  },
)
