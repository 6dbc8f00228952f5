import { describe, expect, test } from "vitest"
import { ask, askWords } from "./ask.ts"
import { REFUSED_COMMANDS } from "./refused-commands.ts"
import { REFUSED_GRAPHS } from "./refused-graphs.ts"

for (const [kind, cases] of Object.entries({ ...REFUSED_COMMANDS, ...REFUSED_GRAPHS })) {
  describe(`${kind} are refused`, () => {
    test.for(cases)("%s", ([line, code, named]) => {
      const refusals = ask(line)
      expect(refusals.map((refusal) => refusal.code)).toContain(code)
      const texts = refusals.filter((refusal) => refusal.code === code)
      expect(texts.map(({ message }) => message).join("\n")).toContain(named)
    })
  })
}

test("all faults of a command are reported in the order of its words, each with a remedy", () => {
  const line = "-report -i http://a.example/x.mp4 -vf movie=/x,ladspa=y -c:v h264_nvenc /tmp/x.mp4"
  expect(ask(line)).toEqual([
    {
      code: "option_not_allowed",
      option: "-report",
      message:
        "-report writes a log file of its own; leave it out: processing_errors has the last lines of ffmpeg",
    },
    {
      code: "url_not_allowed",
      option: "-i",
      message:
        '-i: "http://a.example/x.mp4": a command cannot reach a network or a URL; put the URL in input_files and write its key here',
    },
    { code: "path_not_allowed", option: "-vf", message: expect.stringContaining("movie") },
    { code: "filter_not_allowed", option: "-vf", message: expect.stringContaining("ladspa") },
    { code: "codec_not_allowed", option: "-c:v", message: expect.stringContaining("libx264") },
    { code: "path_not_allowed", message: expect.stringContaining('output "/tmp/x.mp4"') },
  ])
})

/** Disguises of a text that `av_get_token` undoes, by level. */
const DISGUISES: Record<string, (text: string) => string> = {
  plain: (text) => text.replace(/[\\':,;[\]]/g, String.raw`\$&`),
  escaped: (text) => text.replace(/[^A-Za-z0-9]|^./g, String.raw`\$&`),
  quoted: (text) => `'${text.replaceAll("'", String.raw`'\''`)}'`,
  halved: (text) =>
    `'${text.slice(0, 2)}'${text.slice(2).replace(/[^A-Za-z0-9]/g, String.raw`\$&`)}`,
  padded: (text) => ` ${text.replace(/[\\':,;[\]]/g, String.raw`\$&`)}\n`,
}
const HOSTILE = [
  "/etc/passwd",
  "~/.ssh/id",
  "../../x",
  "sub/x",
  "http://a.example/x",
  "file:/etc/passwd",
  "pipe:0",
  "fd:3",
  "subfile,,start,0,end,9,,:/etc/passwd",
  "data:text/plain,x",
  "concat:/etc/passwd|/etc/group",
  "unix:/run/docker.sock",
  "-",
]

describe("no two levels of escapes hide a file from the policy", () => {
  const pairs = Object.keys(DISGUISES).flatMap((inner) =>
    Object.keys(DISGUISES).map((outer) => [inner, outer] as const),
  )

  test.for(pairs)("%s in %s", ([inner, outer]) => {
    const passed = HOSTILE.flatMap((value) => {
      const once = DISGUISES[inner]?.(value) ?? ""
      const named = DISGUISES[outer]?.(`filename=${once}`) ?? ""
      const placed = DISGUISES[outer]?.(once) ?? ""
      return [
        `movie=${named}`,
        `movie=${placed}`,
        `[in]null[a];[a] movie@b =${named}[c]`,
        `hue,subtitles=${placed}`,
      ].filter((graph) => askWords(["-i", "in_1.mp4", "-vf", graph, "out.mp4"]).length === 0)
    })
    expect(passed).toEqual([])
  })
})
