/** Returns a valid body of POST /commands, with some fields replaced. */
export function makeCommandBody(fileId: string, changes: Record<string, unknown> = {}) {
  return {
    ffmpeg_command: "ffmpeg -i {{in_1}} {{out_1}}",
    input_files: { in_1: `svc_id://${fileId}` },
    output_files: { out_1: "out.mp4" },
    ...changes,
  }
}

/** Returns a valid body of POST /commands with the given input files, with some fields replaced. */
export function makeCommandBodyWithInputs(
  input_files: Record<string, string>,
  changes: Record<string, unknown> = {},
) {
  const named = Object.keys(input_files).map((key) => `-i {{${key}}}`)
  return {
    ffmpeg_command: `ffmpeg ${named.join(" ")} {{out_1}}`,
    input_files,
    output_files: { out_1: "out.mp4" },
    ...changes,
  }
}
