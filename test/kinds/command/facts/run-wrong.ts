import { execFile } from "node:child_process"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { findMediaTools } from "../../../../scripts/cli/media-tools.ts"
import type { Report } from "../../../../src/contract/report.ts"
import { startHarness } from "../../../container/harness.ts"
import type { Harness } from "../../../container/harness.ts"
import { workOf } from "./create-wrong.ts"

const run = promisify(execFile)

/** Commands that make the media of wrong commands, with their workspace names. */
const MEDIA: readonly (readonly [key: string, name: string, line: string])[] = [
  [
    "in_1",
    "in_1.mp4",
    "-f lavfi -i testsrc2=s=160x120:d=1 -f lavfi -i sine=d=1 -c:v libx264 -c:a aac",
  ],
  ["in_2", "in_2.srt", ""],
  ["in_pic", "in_pic.png", "-i in_1.mp4 -frames:v 1"],
  ["in_snd", "in_snd.wav", "-i in_1.mp4 -vn"],
  ["in_mute", "in_mute.mp4", "-i in_1.mp4 -an -c copy"],
  ["in_stereo", "in_stereo.mp4", "-i in_1.mp4 -c:v copy -c:a aac -ac 2"],
  ["in_full", "in_full.mkv", "-i in_1.mp4 -i in_2.srt -map 0 -map 1 -c copy -c:s srt"],
  [
    "in_still",
    "in_still.mp4",
    "-f lavfi -i testsrc2=s=160x120:d=0.04 -i in_1.mp4 -map 0 -map 1:a -c:a copy -c:v libx264",
  ],
  ["in_gif", "in_gif.gif", "-i in_1.mp4 -t 0.5"],
  ["in_flv", "in_flv.flv", "-i in_1.mp4 -t 0.5"],
  ["in_list", "in_list.txt", ""],
  ...[1, 2, 3].map(
    (number) => [`in_pics_${number}`, `in_pics_${number}.png`, "-i in_1.mp4 -frames:v 1"] as const,
  ),
]
const TEXTS: Record<string, string> = {
  in_2: "1\n00:00:00,000 --> 00:00:00,900\nHi\n",
  in_list: "file in_1.mp4\nfile in_1.mp4\n",
}

/** Outcome of a run: the code `finished`, or code and message of the failure. */
export type RunOutcome = { code: string; message: string }

/** Starts a runner with the media of wrong commands; it runs one line at a time. */
export async function startRuns() {
  const harness = await startHarness()
  await makeMedia(harness)
  return {
    run: (line: string, secondsMax: number) => runLine(harness, line, secondsMax),
    close: () => harness.close(),
  }
}

async function makeMedia({ io }: Harness) {
  const folder = await mkdtemp(join(tmpdir(), "lathe-wrong-"))
  for (const [key, name, line] of MEDIA) {
    const path = join(folder, name)
    const argv = ["-y", "-nostdin", "-v", "error", ...line.split(" "), name]
    if (line === "") await writeFile(path, TEXTS[key] ?? "")
    else await run(findMediaTools().ffmpeg, argv, { cwd: folder })
    io.inputs.set(key, new Uint8Array(await readFile(path)))
  }
  await rm(folder, { recursive: true, force: true })
}

async function runLine(harness: Harness, line: string, secondsMax: number): Promise<RunOutcome> {
  const { commands, inputs, outputs } = workOf(line)
  const { io } = harness
  io.reports.length = 0
  io.outputs.clear()
  const order = harness.order(commands, {
    inputs: inputs.map((input) => {
      const length = io.inputs.get(input.key)?.length ?? 0
      return { ...input, size_bytes: length }
    }),
    work: { kind: "command", commands, outputs, run_seconds_max: secondsMax },
  })
  const report: Report = await harness.finish(order)
  if (report.kind === "failed") return report.failure
  return { code: report.kind, message: "" }
}
