import type { ProbeResult } from "../../../src/contract/probe.ts"
import { isStillImage, findMainStreams } from "../media-facts.ts"
import type { ProbedStream } from "../media-facts.ts"

const SKIPPED_SECONDS = 1
const KEPT_SECONDS_MAX = 20
/** Minimum duration of media from which the first second is cut off, in seconds. */
const SKIP_FROM_SECONDS = 5
/**
 * Duration below which audio is padded with silence, in seconds, because loudnorm analyzes three
 * seconds ahead.
 */
const LOUDNORM_FROM_SECONDS = 6
const WIDTH_MAX = 480
const WIDTH_SHARE = 0.75

const LEVEL = "loudnorm=I=-16:TP=-1.5:LRA=11"
const TITLE =
  "drawtext=text=Made with Lathe:font=Sans:fontsize=h/10:fontcolor=white:" +
  "box=1:boxcolor=black@0.5:boxborderw=8:x=(w-tw)/2:y=h-2*th"
const FRAME = "hue=s=0.4,drawbox=x=0:y=0:w=iw:h=ih:color=orange:t=8"

export type DemoCommand = {
  /**
   * ffmpeg command that reads the input file `in_1` and writes the output file `out_1`. Contains no
   * single quotes.
   */
  command: string
  outputName: string
  /** Effect of the command, as verb phrases such as "writes a title". */
  purpose: string
}

/** Options of an ffmpeg command, and their effect as a verb phrase. */
type CommandPart = { words: string; purpose: string }

/**
 * Returns ffmpeg commands that change a file's video and audio noticeably. The first command writes
 * a title; the second draws a frame instead, for an ffmpeg that lacks the filter drawtext or a
 * font. Returns an empty list for a file with neither video nor audio.
 */
export function makeDemoCommands(probe: ProbeResult): DemoCommand[] {
  const { video, audio } = findMainStreams(probe)
  const sound = audio ? [mapped(audio, levelSound(probe.duration ?? Infinity))] : []
  if (!video) return audio ? [recipe(trim(probe), sound, "lathe-demo-output.m4a")] : []
  const still = isStillImage(probe)
  const outputName = still ? "lathe-demo-output.png" : "lathe-demo-output.mp4"
  return [
    { filter: TITLE, purpose: "writes a title" },
    { filter: FRAME, purpose: "pales the colors, draws a frame" },
  ].map((mark) => {
    const picture = mapped(video, changePicture(probe.width ?? WIDTH_MAX, mark, still))
    return recipe(still ? [] : trim(probe), [picture, ...sound], outputName)
  })
}

function recipe(before: CommandPart[], after: CommandPart[], outputName: string): DemoCommand {
  const words = [...before.map(wordsOf), "-i {{in_1}}", ...after.map(wordsOf)].join(" ")
  const purpose = [...before, ...after].map((part) => part.purpose).join(", ")
  return { command: `ffmpeg ${words} {{out_1}}`, outputName, purpose }
}

function wordsOf(part: CommandPart): string {
  return part.words
}

function mapped(stream: ProbedStream, part: CommandPart): CommandPart {
  return { ...part, words: `-map 0:${stream.index} ${part.words}` }
}

function trim({ duration = Infinity }: ProbeResult): CommandPart[] {
  const skips = duration >= SKIP_FROM_SECONDS && duration < Infinity
  const left = skips ? duration - SKIPPED_SECONDS : duration
  return [
    ...(skips ? [{ words: `-ss ${SKIPPED_SECONDS}`, purpose: "cuts off the first second" }] : []),
    ...(left > KEPT_SECONDS_MAX
      ? [{ words: `-t ${KEPT_SECONDS_MAX}`, purpose: `keeps ${KEPT_SECONDS_MAX} seconds` }]
      : []),
  ]
}

function changePicture(width: number, mark: { filter: string; purpose: string }, still: boolean) {
  const smaller = Math.max(2, 2 * Math.round(Math.min(WIDTH_MAX, width * WIDTH_SHARE) / 2))
  const codec = still
    ? "-frames:v 1"
    : "-c:v libx264 -preset veryfast -crf 28 -pix_fmt yuv420p -movflags +faststart"
  return {
    words: `-vf "scale=${smaller}:-2,${mark.filter}" ${codec}`,
    purpose: `scales to ${smaller} pixels, ${mark.purpose}`,
  }
}

function levelSound(seconds: number): CommandPart {
  const filter =
    seconds < LOUDNORM_FROM_SECONDS
      ? `apad=whole_dur=${LOUDNORM_FROM_SECONDS},${LEVEL},atrim=duration=${seconds.toFixed(3)}`
      : LEVEL
  return {
    words: `-af ${filter} -ar 48000 -c:a aac -b:a 96k`,
    purpose: "levels the sound to -16 LUFS",
  }
}
