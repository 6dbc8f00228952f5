import { expect, test } from "vitest"
import { command } from "../../../src/kinds/command/kind.ts"
import { COMMAND_LENGTH_MAX } from "../../../src/kinds/command/request.ts"
import { ffmpeg } from "../../../src/kinds/ffmpeg/kind.ts"

/** A graph of which very much would be wrong. */
const GRAPH = "[x]nosuch;".repeat(COMMAND_LENGTH_MAX / 10)
const LINE = `ffmpeg -i {{in_1}} -filter_complex "${GRAPH}" {{out_1}}`
const INPUT = "svc_id://00000000-0000-4000-8000-000000000000"
const FILES = { input_files: { in_1: INPUT }, output_files: { out_1: "out.mp4" } }

/** What stands for the data of an ffmpeg that nothing may ask for. */
const unasked = {
  find: () => {
    throw new Error("it was judged by what ffmpeg knows")
  },
  names: () => {
    throw new Error("it was judged by what ffmpeg knows")
  },
}
const facts = { ffmpeg: unasked, speechModels: [] }

test.for([
  ["ffmpeg_command", { ffmpeg_command: LINE }],
  ["ffmpeg_commands", { ffmpeg_commands: [LINE] }],
] as const)("a command that is too long is refused for that alone: %s", ([field, given]) => {
  const body = { ...given, ...FILES }
  const refused = command.request.safeParse(body).error?.issues
  expect(refused).toMatchObject([{ path: [field, ...(field === "ffmpeg_commands" ? [0] : [])] }])
  const found = command.judge(command.readUsable(body), [], new Set([field]), facts)
  expect(found.filter((fault) => !fault.field.startsWith("ffmpeg_command"))).toEqual([])
})

test("so is one of the Job form", () => {
  const body = { inputs: [INPUT], command: LINE, output_filename: "out.mp4" }
  expect(ffmpeg.request.safeParse(body).error?.issues).toMatchObject([{ path: ["command"] }])
  expect(ffmpeg.judge(ffmpeg.readUsable(body), [], new Set(["command"]), facts)).toEqual([])
})
