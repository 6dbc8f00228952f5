import { formatRatio } from "./figure.ts"
import type { Figure } from "./figure.ts"
import type { Lab } from "./lab.ts"
import { makeMedia, readMedia, runBare, tools } from "./media.ts"
import { submitCommand, untilSuccess, uploadFile } from "./requests.ts"
import { startBenchService } from "./service.ts"
import type { BenchService } from "./service.ts"
import { median, timeMs } from "./statistics.ts"

const TIMES = 3
const GOAL = { ratio: 1.02, extraMs: 150 }
const SOURCE =
  "-f lavfi -i testsrc2=size=1280x720:rate=30,noise=alls=5:allf=t -t 20 -c:v libx264 " +
  "-preset veryfast -crf 23 -pix_fmt yuv420p"
const WORDS = "-c:v libx264 -preset veryfast -crf 26"

/** An encode of some seconds from submit to success, beside ffmpeg alone with the same words. */
export async function benchEncode(lab: Lab): Promise<Figure[]> {
  const folder = lab.makeFolder()
  const path = await makeMedia(folder, "source.mp4", SOURCE)
  const service = await startBenchService(lab)
  const file = await uploadFile(service.caller, "source.mp4", await readMedia(path))
  await untilSuccess(service.caller, `/v1/files/${file.id}`)
  const measuredMs: number[] = []
  const bareMs: number[] = []
  for (let time = 0; time < TIMES; time += 1) {
    measuredMs.push(await timeMs(() => encode(service, file.id)))
    const words = `-nostdin -y -i source.mp4 ${WORDS} encoded.mp4`.split(" ")
    bareMs.push(await timeMs(() => runBare(tools.ffmpeg, words, folder)))
  }
  const [measured, bare] = [median(measuredMs), median(bareMs)]
  return [
    {
      name: "encode: 20 s of 720p, accepted until success, median",
      measured: formatSeconds(measured),
      reference: `${formatSeconds(bare)} bare ffmpeg`,
      comparison: formatRatio(measured / bare),
      goal: `<= ${GOAL.ratio} x + ${GOAL.extraMs / 1000} s`,
      isMet: measured <= bare * GOAL.ratio + GOAL.extraMs,
    },
  ]
}

async function encode({ caller, whenSaid }: BenchService, fileId: string): Promise<void> {
  const id = await submitCommand(caller, {
    ffmpeg_command: `ffmpeg -i {{in_1}} ${WORDS} {{out_1}}`,
    input_files: { in_1: `svc_id://${fileId}` },
    output_files: { out_1: "encoded.mp4" },
  })
  // Asking all the while would take from the encode what it is to be measured by.
  await whenSaid("task.ended", id)
  await untilSuccess(caller, `/v1/commands/${id}`)
}

function formatSeconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`
}
