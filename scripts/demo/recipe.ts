import type { ProbeResult } from "../../src/contract/probe.ts"
import { isStill, mainStreams } from "./media-facts.ts"

const SKIPPED_SECONDS = 1
const KEPT_SECONDS_MAX = 20
/** Shorter media keep their beginning. */
const SKIP_FROM_SECONDS = 3
const WIDTH_MAX = 480
const WIDTH_SHARE = 0.75

const TITLE =
  "drawtext=text=Made with Lathe:font=Sans:fontsize=h/10:fontcolor=white:" +
  "box=1:boxcolor=black@0.5:boxborderw=8:x=(w-tw)/2:y=h-2*th"
const FRAME = "hue=s=0.4,drawbox=x=0:y=0:w=iw:h=ih:color=orange:t=8"

export type Recipe = {
  /** One ffmpeg command from in_1 to out_1; it holds no single quote. */
  command: string
  outputName: string
  /** What it does, in words that follow "it". */
  purpose: string
}

type Step = { words: string[]; purpose: string }

/**
 * Commands that change a file so that one sees and hears it, best first: the next is for an ffmpeg
 * without drawtext or a font. None where there is neither picture nor sound.
 */
export function recipeFor(probe: ProbeResult): Recipe[] {
  const { video, audio } = mainStreams(probe)
  if (!video && !audio) return []
  const maps = [video, audio].flatMap((each) => (each ? ["-map", `0:${each.index}`] : []))
  const trim = trimOf(probe)
  const sound = audio ? [levelSound()] : []
  if (!video) return [join({ trim, maps, steps: sound, outputName: "lathe-demo-output.m4a" })]
  const still = isStill(probe)
  const outputName = still ? "lathe-demo-output.png" : "lathe-demo-output.mp4"
  return [
    { filter: TITLE, purpose: "writes a title" },
    { filter: FRAME, purpose: "pales the colors and draws a frame" },
  ].map((mark) => {
    const picture = changePicture(probe.width ?? WIDTH_MAX, mark, still)
    return join({ trim, maps, steps: [picture, ...sound], outputName })
  })
}

function join(parts: {
  trim: Step | null
  maps: string[]
  steps: Step[]
  outputName: string
}): Recipe {
  const { trim, maps, steps, outputName } = parts
  const purposes = [...(trim ? [trim] : []), ...steps].map((step) => step.purpose)
  const words = [
    ...(trim?.words ?? []),
    ...["-i", "{{in_1}}", ...maps],
    ...steps.flatMap((step) => step.words),
  ]
  return { command: `ffmpeg ${words.join(" ")} {{out_1}}`, outputName, purpose: list(purposes) }
}

function trimOf(probe: ProbeResult): Step | null {
  if (isStill(probe)) return null
  const length = probe.duration ?? Infinity
  const skips = length >= SKIP_FROM_SECONDS && length < Infinity
  const cutsEnd = length - (skips ? SKIPPED_SECONDS : 0) > KEPT_SECONDS_MAX
  if (!skips && !cutsEnd) return null
  const kept = cutsEnd ? `keeps at most ${KEPT_SECONDS_MAX} seconds` : null
  const skipped = skips ? "cuts off the first second" : null
  return {
    words: [
      ...(skips ? ["-ss", String(SKIPPED_SECONDS)] : []),
      ...(cutsEnd ? ["-t", String(KEPT_SECONDS_MAX)] : []),
    ],
    purpose: list([skipped, kept].filter((each) => each !== null)),
  }
}

function changePicture(
  width: number,
  mark: { filter: string; purpose: string },
  still: boolean,
): Step {
  const smaller = Math.max(2, 2 * Math.round(Math.min(WIDTH_MAX, width * WIDTH_SHARE) / 2))
  const filter = `"scale=${smaller}:-2,${mark.filter}"`
  const video = "-c:v libx264 -preset veryfast -crf 28 -pix_fmt yuv420p -movflags +faststart"
  return {
    words: ["-vf", filter, ...(still ? ["-frames:v", "1"] : [video])],
    purpose: `scales to ${smaller} pixels, ${mark.purpose}`,
  }
}

function levelSound(): Step {
  return {
    words: ["-af loudnorm=I=-16:TP=-1.5:LRA=11 -ar 48000 -c:a aac -b:a 96k"],
    purpose: "levels the sound to -16 LUFS",
  }
}

function list(items: string[]): string {
  return items.join(", ")
}
