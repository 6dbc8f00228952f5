import { formatMib, formatRatio, formatSeconds } from "../figure.ts"
import type { Figure } from "../figure.ts"
import { makeMedia } from "../media.ts"
import { findRunner, watchFamily } from "../memory.ts"
import { uploadMedia } from "../requests.ts"
import type { BenchService } from "../service.ts"
import { timeMs } from "../statistics.ts"
import { submitTranscription } from "./submit.ts"

const HOUR_SECONDS = 3600
const MEMORY_GOAL_BYTES = 1.5 * 1024 ** 3

/** Memory that an hour of speech takes: of the worker, which is a Python, and of the runner. */
export async function benchHour(
  service: BenchService,
  { path, folder }: { path: string; folder: string },
): Promise<Figure[]> {
  const hour = await makeMedia(
    folder,
    "hour.flac",
    `-stream_loop -1 -i ${path} -t ${HOUR_SECONDS} -c:a flac`,
  )
  const fileId = await uploadMedia(service.caller, hour)
  const watch = watchFamily(findRunner(service.pid))
  const tookMs = await timeMs(() => submitTranscription(service, fileId, { isLong: true }))
  const peaks = watch.stop()
  const speed = {
    name: "transcribe: an hour of speech, accepted until success",
    measured: formatSeconds(tookMs),
    reference: `${HOUR_SECONDS} s of sound`,
    comparison: formatRatio(tookMs / 1000 / HOUR_SECONDS),
    goal: "",
    isMet: null,
  }
  return [speed, memoryFigure("worker", peaks.childBytes), memoryFigure("runner", peaks.ownBytes)]
}

function memoryFigure(name: string, bytes: number): Figure {
  return {
    name: `transcribe: an hour of speech, the ${name}'s memory, peak`,
    measured: formatMib(bytes),
    reference: "",
    comparison: "",
    goal: `<= ${formatMib(MEMORY_GOAL_BYTES)}`,
    isMet: bytes > 0 && bytes <= MEMORY_GOAL_BYTES,
  }
}
