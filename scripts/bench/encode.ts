import { formatMs, formatRatio, formatSeconds } from "./figure.ts"
import type { BenchResult } from "./figure.ts"
import type { BenchResources } from "./scope.ts"
import { makeMediaFile, runUnsandboxed, serviceToolPaths } from "../cli/client/media.ts"
import { readCpuTime, measureProcessTreeCpuMs } from "../cli/processes/process-time.ts"
import { submitCommand, waitUntilSuccess, uploadMedia } from "../cli/client/requests.ts"
import { startBenchService } from "./service.ts"
import type { BenchService } from "./service.ts"
import { measureAlternatingMedians, measureMs } from "./statistics.ts"

const ROUNDS = { warmUp: 0, counted: 3 }
const GOAL = { ratio: 1.02, extraMs: 150 }
const SOURCE =
  "-f lavfi -i testsrc2=size=1280x720:rate=30,noise=alls=5:allf=t -t 20 -c:v libx264 " +
  "-preset veryfast -crf 23 -pix_fmt yuv420p"
const WORDS = "-c:v libx264 -preset veryfast -crf 26"

/**
 * Measures the time from the submission of an encode of a few seconds to its success, and compares
 * it with the time of bare ffmpeg with the same arguments.
 */
export async function benchEncode(scope: BenchResources): Promise<BenchResult[]> {
  const folder = await scope.makeFolder()
  const path = await makeMediaFile(folder, "source.mp4", SOURCE)
  const service = await startBenchService(scope)
  const fileId = await uploadMedia(service.caller, path)
  const words = `-nostdin -y -i source.mp4 ${WORDS} encoded.mp4`.split(" ")
  const { measured, reference } = await measureAlternatingMedians(
    ROUNDS,
    () => measureMs(() => encode(service, fileId)),
    () => measureMs(() => runUnsandboxed(serviceToolPaths.ffmpeg, words, folder)),
  )
  return [
    {
      name: "encode: 20 s of 720p, accepted until success, median",
      measured: formatSeconds(measured),
      reference: `${formatSeconds(reference)} bare ffmpeg`,
      comparison: formatRatio(measured / reference),
      goal: `<= ${GOAL.ratio} x + ${GOAL.extraMs / 1000} s`,
      isMet: measured <= reference * GOAL.ratio + GOAL.extraMs,
    },
    ...(await measureBeside(service, fileId, () =>
      runUnsandboxed(serviceToolPaths.ffmpeg, words, folder),
    )),
  ]
}

/**
 * Measures the CPU time that the service needs for an encode in addition to that of ffmpeg, such as
 * for transfers and supervision.
 */
async function measureBeside(
  service: BenchService,
  fileId: string,
  runReference: () => Promise<unknown>,
): Promise<BenchResult[]> {
  const besideMs = await measureProcessTreeCpuMs(service.pid, () => encode(service, fileId))
  if (besideMs === null) {
    console.error("This system does not tell the processor time of processes.")
    return []
  }
  const beforeMs = readCpuTime(process.pid).childrenMs
  await runReference()
  const referenceMs = readCpuTime(process.pid).childrenMs - beforeMs
  return [
    {
      name: "encode: processor time of the service beside the same encode",
      measured: formatMs(besideMs),
      reference: `${formatMs(referenceMs)} of bare ffmpeg`,
      comparison: formatRatio(besideMs / referenceMs),
      goal: "for information",
      isMet: null,
    },
  ]
}

async function encode({ caller, whenLogged }: BenchService, fileId: string): Promise<void> {
  const id = await submitCommand(caller, {
    ffmpeg_command: `ffmpeg -i {{in_1}} ${WORDS} {{out_1}}`,
    input_files: { in_1: `svc_id://${fileId}` },
    output_files: { out_1: "encoded.mp4" },
  })
  // Waits for the task's log line, because polling would take CPU time from the measured encode.
  await whenLogged("task.ended", id)
  await waitUntilSuccess(caller, `/v1/commands/${id}`)
}
