/** A request of POST /commands that is right, with some of its fields changed. */
export function commandRequest(fileId: string, changes: Record<string, unknown> = {}) {
  return {
    ffmpeg_command: "ffmpeg -i {{in_1}} {{out_1}}",
    input_files: { in_1: `svc_id://${fileId}` },
    output_files: { out_1: "out.mp4" },
    ...changes,
  }
}
