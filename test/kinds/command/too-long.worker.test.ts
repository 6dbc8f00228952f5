import { expect, test } from "vitest"
import { commandKind } from "../../../src/kinds/command/kind.ts"
import { COMMAND_LENGTH_MAX } from "../../../src/kinds/command/request.ts"
import { ffmpegKind } from "../../../src/kinds/ffmpeg/kind.ts"

/** Graph with thousands of faults. */
const GRAPH = "[x]nosuch;".repeat(COMMAND_LENGTH_MAX / 10)
const LINE = `ffmpeg -i {{in_1}} -filter_complex "${GRAPH}" {{out_1}}`
const INPUT = "svc_id://00000000-0000-4000-8000-000000000000"
const FILES = { input_files: { in_1: INPUT }, output_files: { out_1: "out.mp4" } }

/** Capabilities that fail the test when they are used. */
const unused = {
  version: "7.1",
  find: () => {
    throw new Error("it was judged by what ffmpeg knows")
  },
  names: () => {
    throw new Error("it was judged by what ffmpeg knows")
  },
}
const facts = { ffmpeg: unused, speechModels: [] }

test.for([
  ["ffmpeg_command", { ffmpeg_command: LINE }],
  ["ffmpeg_commands", { ffmpeg_commands: [LINE] }],
] as const)("a command that is too long gets only one fault: %s", ([field, given]) => {
  const body = { ...given, ...FILES }
  const refused = commandKind.request.safeParse(body).error?.issues
  expect(refused).toMatchObject([{ path: [field, ...(field === "ffmpeg_commands" ? [0] : [])] }])
  const found = commandKind.judge(commandKind.readUsableFields(body), [], new Set([field]), facts)
  expect(found.filter((fault) => !fault.field.startsWith("ffmpeg_command"))).toEqual([])
})

test("a command of the Job form is refused in the same way", () => {
  const body = { inputs: [INPUT], command: LINE, output_filename: "out.mp4" }
  expect(ffmpegKind.request.safeParse(body).error?.issues).toMatchObject([{ path: ["command"] }])
  expect(
    ffmpegKind.judge(ffmpegKind.readUsableFields(body), [], new Set(["command"]), facts),
  ).toEqual([])
})
