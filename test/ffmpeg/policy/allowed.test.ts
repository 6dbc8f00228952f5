import { describe, expect, test } from "vitest"
import { ALLOWED } from "./allowed-cases.ts"
import { ask, askWords } from "./ask.ts"

for (const [kind, lines] of Object.entries(ALLOWED)) {
  describe(`${kind} pass`, () => {
    test.for(lines)("%s", (line) => {
      expect(ask(line)).toEqual([])
    })
  })
}

describe("free text is never judged as a file", () => {
  const texts = ["/etc/passwd", "~/.ssh", "../../x", "http://a.example/", "file:/x", "pipe:0", "-"]

  test.for(texts)("%s as metadata, and as text to draw", (text) => {
    const escaped = text.replace(/[\\':]/g, (character) => `\\${character}`)
    const graphs = [`drawtext=text='${escaped}'`, `metadata=add:key=a:value='${escaped}'`]
    for (const graph of graphs) {
      expect(askWords(["-i", "in_1.mp4", "-vf", graph, "out.mp4"])).toEqual([])
    }
    expect(askWords(["-i", "in_1.mp4", "-metadata", `a=${text}`, "out.mp4"])).toEqual([])
    expect(askWords(["-i", "in_1.mp4", "-metadata:s:a", text, "out.mp4"])).toEqual([])
  })
})
