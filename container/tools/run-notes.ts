import { parseTime } from "../../src/contract/media-time.ts"
import { tellsDamage } from "./damage.ts"

/** An input as ffmpeg describes it: the format it was taken for, and how long it should last. */
export type NotedInput = { format: string; seconds: number | null }

/** An output as ffmpeg describes it: its muxer, and how many streams it is to have. */
export type NotedOutput = { muxer: string; video: number; audio: number; others: number }

/** What a run of ffmpeg said of its inputs and outputs; a low -loglevel keeps it from saying that. */
export type RunNotes = {
  inputs: ReadonlyMap<string, NotedInput>
  outputs: ReadonlyMap<string, NotedOutput>
  /** The first lines that tell of damage. */
  damage: readonly string[]
  /** Whether its last progress says that frames or time were written; whatever the -loglevel is. */
  hasWritten: boolean
}

const FILES_MAX = 64
const DAMAGE_LINES_MAX = 5

/** Opens a reader that takes notes of the lines of one ffmpeg process. */
export function openRunNotes() {
  const inputs = new Map<string, NotedInput>()
  const outputs = new Map<string, NotedOutput>()
  const damage: string[] = []
  const written = { frames: 0, time: 0 }
  let input: NotedInput | null = null
  let output: NotedOutput | null = null
  function readFile(line: string): boolean {
    const [, side, format = "", name = ""] =
      /^(Input|Output) #\d+, ([^']{1,200}), (?:from|to) '([^']{0,1000})':$/.exec(line) ?? []
    if (side === undefined || inputs.size + outputs.size >= FILES_MAX) return false
    input = side === "Input" ? { format, seconds: null } : null
    output = side === "Output" ? { muxer: format, video: 0, audio: 0, others: 0 } : null
    if (input) inputs.set(name, input)
    if (output) outputs.set(name, output)
    return true
  }
  return {
    readStderr(line: string): void {
      if (readFile(line)) return
      const duration = /^ {2}Duration: ([\d:.]+)/.exec(line)?.[1]
      if (input && duration !== undefined) input.seconds = parseTime(duration)
      const type = /^ {2}Stream #\d+:\d+[^ ]*: (\w+): /.exec(line)?.[1]
      if (output && type !== undefined) countStream(output, type, line)
      if (damage.length < DAMAGE_LINES_MAX && tellsDamage(line)) damage.push(line)
    },
    readProgress(line: string): void {
      const [, name, value = ""] = /^(frame|out_time_us)=(.*)$/.exec(line) ?? []
      if (name === "frame") written.frames = Number(value) || 0
      if (name === "out_time_us") written.time = Number(value) || 0
    },
    end(): RunNotes {
      const hasWritten = written.frames > 0 || written.time > 0
      return { inputs, outputs, damage, hasWritten }
    },
  }
}

/** Counts a stream; a cover is neither the picture nor the sound of a film. */
function countStream(output: NotedOutput, type: string, line: string): void {
  if (type === "Video" && !line.endsWith("(attached pic)")) output.video += 1
  else if (type === "Audio") output.audio += 1
  else output.others += 1
}
