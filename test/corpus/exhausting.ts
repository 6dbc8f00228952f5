import { availableParallelism } from "node:os"

const CARD = "-f lavfi -i color=s=640x480:r=50"
const LARGE = "-f lavfi -i color=s=1920x1080:r=100"
const SAMPLES = "-f lavfi -i anullsrc"
const DEEP = 3000
/** What a command with some outputs takes on each core, whose stacks of 8 MB take address space. */
const THREADS_A_CORE = 12

/** What the service that is to be exhausted allows; small, so that little is wasted. */
export const SMALL_LIMITS = {
  RUN_SECONDS_MAX: "4",
  TOOL_LOG_BYTES_MAX: String(200 * 1024),
  TOOL_FILE_BYTES_MAX: String(30_000_000),
  TOOL_MEMORY_BYTES_MAX: String(900_000_000 + availableParallelism() * THREADS_A_CORE * 8_400_000),
  TOOL_THREADS_MAX: String(60 + availableParallelism() * THREADS_A_CORE),
  WORKSPACE_BYTES_MAX: String(60_000_000),
  WORKSPACE_FILES_MAX: "300",
}

/** A command that wants more than it may have. */
export type Exhausting = {
  name: string
  words: string
  /** Codes that name what it ran into; an encoder without threads says only that it cannot work. */
  codes: string[]
  /** A text that comes with it as in_1. */
  text?: string
}

export const EXHAUSTING: Exhausting[] = [
  { name: "a tone without end", words: `${SAMPLES} -f null out_1`, codes: ["time_limit"] },
  {
    name: "a formula without end",
    words: `-f lavfi -i "aevalsrc=exprs='while(1,1)'" -f null out_1`,
    codes: ["time_limit"],
  },
  {
    name: "a formula without end for every pixel",
    words: `-f lavfi -i "nullsrc=s=16x16,geq=lum='while(1,1)'" -frames:v 1 -f rawvideo out_1`,
    codes: ["time_limit"],
  },
  {
    name: "an input over and over",
    words: "-stream_loop -1 -f u8 -i in_1 -f null out_1",
    text: "nothing but a text",
    codes: ["time_limit"],
  },
  { name: "the pace of a clock", words: `-re ${SAMPLES} -f u8 out_1`, codes: ["time_limit"] },
  { name: "frames without end", words: `${CARD} -f rawvideo out_1`, codes: ["file_limit"] },
  {
    name: "several files that are all allowed",
    words: `${CARD} ${["a", "b", "c", "out_1"].map((name) => `-frames:v 40 -f rawvideo ${name}`).join(" ")} -f null -`,
    codes: ["disk_limit"],
  },
  {
    name: "many small files",
    words: "-f lavfi -i color=s=16x16 -f image2 x%d.bmp -f null out_1",
    codes: ["disk_limit"],
  },
  {
    name: "segments without end",
    words: `${SAMPLES} -f segment -segment_time 0.01 -c:a pcm_u8 x%d.wav -f null out_1`,
    codes: ["disk_limit"],
  },
  {
    name: "frames kept to be reversed",
    words: `${LARGE} -vf reverse -f null out_1`,
    codes: ["out_of_memory", "time_limit"],
  },
  {
    name: "samples kept to be reversed",
    words: "-f lavfi -i anullsrc=r=768000:cl=7.1 -af areverse -f null out_1",
    codes: ["out_of_memory", "time_limit"],
  },
  {
    name: "frames kept to be repeated",
    words: `${LARGE} -vf loop=-1:32767 -f null out_1`,
    codes: ["out_of_memory", "time_limit"],
  },
  {
    name: "a huge sheet",
    words: `${LARGE} -vf tile=10x10 -f rawvideo out_1`,
    // ffmpeg 5 does not say why an encoder took no frame.
    codes: ["out_of_memory", "filter_error", "file_limit", "command_failed"],
  },
  {
    name: "a huge picture",
    words: "-f lavfi -i color=s=30000x30000 -frames:v 1 -f rawvideo out_1",
    codes: ["out_of_memory", "file_limit", "filter_error"],
  },
  {
    name: "a picture of no possible size",
    words: "-f lavfi -i color=s=2000000000x2000000000 -f rawvideo out_1",
    codes: ["out_of_memory", "filter_error", "invalid_option", "invalid_input"],
  },
  {
    name: "more threads than it may have",
    words: `${CARD} ${"-c:v libx264 -threads 128 -f mp4 a ".repeat(4)} -t 1 -f mp4 out_1`,
    codes: ["invalid_option", "process_limit", "out_of_memory"],
  },
  {
    name: "a log without end",
    words: `-v trace ${CARD} -vf showinfo -f null out_1`,
    codes: ["output_limit"],
  },
  {
    name: "a log without line ends",
    words: `${SAMPLES} -f u8 pipe:2 -f null out_1`,
    codes: ["output_limit"],
  },
  {
    name: "bytes to stdout without end",
    words: `${CARD} -f rawvideo - -f null out_1`,
    codes: ["output_limit", "time_limit"],
  },
  {
    name: "bytes to the pipe of progress without end",
    words: `${CARD} -f rawvideo pipe:3 -f null out_1`,
    codes: ["output_limit", "time_limit"],
  },
  {
    name: "progress a million times a second",
    words: `-stats_period 0.000001 ${SAMPLES} -f null out_1`,
    codes: ["output_limit", "time_limit"],
  },
  {
    name: "a list that names itself",
    words: "-f concat -safe 0 -i in_1 -f null out_1",
    text: "file in_1.txt\n".repeat(50),
    codes: [
      "no_output",
      "invalid_input",
      "file_limit",
      "out_of_memory",
      "time_limit",
      "process_limit",
      "command_failed",
      "output_limit",
    ],
  },
  {
    name: "a very deep formula",
    words: `-f lavfi -i nullsrc=s=16x16,geq=lum='${"(".repeat(DEEP)}1${")".repeat(DEEP)}' -frames:v 1 -f rawvideo out_1`,
    codes: ["filter_error", "command_failed"],
  },
  {
    name: "hundreds of inputs that never end",
    words: `${`${SAMPLES} `.repeat(400)} -filter_complex amix=inputs=400 -f null out_1`,
    codes: ["time_limit", "process_limit", "out_of_memory", "filter_error"],
  },
  {
    name: "hundreds of encoders",
    words: `${SAMPLES} ${"-map 0 -c:a aac -f null - ".repeat(400)} -f null out_1`,
    codes: ["invalid_option", "time_limit", "process_limit", "out_of_memory"],
  },
]
