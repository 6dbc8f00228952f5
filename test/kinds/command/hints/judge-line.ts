import type { Fault } from "../../../../src/domain/faults.ts"
import image from "../../../../src/kinds/command/facts/image.json" with { type: "json" }
import { createCapabilities } from "../../../../src/kinds/command/facts/capabilities.ts"
import { findCommandFaults } from "../../../../src/kinds/command/request-faults.ts"
import type { ResolvedInput } from "../../../../src/kinds/kind.ts"
import type { File } from "../../../../src/db/schema/files.ts"

const known = createCapabilities(image)

/** The inputs that lines may name, with their streams. */
const INPUTS = [
  foundInput("in_1", "lesson.mp4", [
    ["video", "h264"],
    ["audio", "aac"],
  ]),
  foundInput("in_2", "words.srt", [["subtitle", "subrip"]]),
  foundInput("in_pic", "logo.png", [["video", "png"]]),
  foundInput("in_snd", "music.mp3", [["audio", "mp3"]]),
  foundInput("in_sil", "silent.mp4", [["video", "h264"]]),
]

/**
 * Faults that a create finds in a command line; adds `ffmpeg` unless the line begins with a
 * program.
 */
export function judgeLine(line: string, output = "out.mp4"): Fault[] {
  const inputs = INPUTS.filter(({ key }) => key === "in_1" || line.includes(key))
  const request = {
    input_files: Object.fromEntries(inputs.map(({ key }) => [key, "svc_id://…"])),
    output_files: { out_1: output, ...(line.includes("out_2") && { out_2: "out2.mkv" }) },
    ffmpeg_command: line,
  }
  return findCommandFaults(request, inputs, new Set(), { ffmpeg: known })
}

/** Faults that a create finds in commands whose files have these names by key. */
export function judgeRun(
  run: string[],
  inputs: Record<string, string>,
  outputs: Record<string, string>,
): Fault[] {
  const found = Object.entries(inputs).map(([key, name]) => foundInput(key, name, null))
  const request = { input_files: inputs, output_files: outputs, ffmpeg_commands: run }
  return findCommandFaults(request, found, new Set(), { ffmpeg: known })
}

function foundInput(key: string, name: string, streams: [string, string][] | null): ResolvedInput {
  const file: File = {
    id: key,
    accountId: "account",
    jobId: key,
    outputKey: null,
    name,
    source: "upload",
    sourceUrl: null,
    state: "succeeded",
    objectKey: key,
    sizeBytes: 1000,
    contentType: null,
    sha256: null,
    probe: streams && {
      format_name: "mov",
      format: {},
      streams: streams.map(([codec_type, codec_name]) => ({ codec_type, codec_name })),
    },
    probeObjectKey: null,
    probeError: null,
    bundle: null,
    bundleObjectKey: null,
    errorCode: null,
    errorMessage: null,
    createdAt: 0,
    completedAt: 0,
    publishedAt: null,
  }
  return { key, field: `input_files.${key}`, fileId: key, file }
}
