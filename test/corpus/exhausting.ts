import { availableParallelism } from "node:os"

const CARD = "-f lavfi -i color=s=640x480:r=50"
const LARGE = "-f lavfi -i color=s=1920x1080:r=100"
const SAMPLES = "-f lavfi -i anullsrc"
const DEEP = 3000
/** Threads a core of a command with several outputs; their 8 MB stacks use address space. */
const THREADS_A_CORE = 12

/** Limits of the service under attack; small, so that the attack is short. */
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
  { name: "an endless tone", words: `${SAMPLES} -f null out_1`, codes: ["time_limit"] },
  {
    name: "an endless formula",
    words: `-f lavfi -i "aevalsrc=exprs='while(1,1)'" -f null out_1`,
    codes: ["time_limit"],
  },
  {
    name: "an endless formula for every pixel",
    words: `-f lavfi -i "nullsrc=s=16x16,geq=lum='while(1,1)'" -frames:v 1 -f rawvideo out_1`,
    codes: ["time_limit"],
  },
  {
    name: "an endlessly repeated input",
    words: "-stream_loop -1 -f u8 -i in_1 -f null out_1",
    text: "only a text",
    codes: ["time_limit"],
  },
  { name: "the pace of a clock", words: `-re ${SAMPLES} -f u8 out_1`, codes: ["time_limit"] },
  { name: "endless frames", words: `${CARD} -f rawvideo out_1`, codes: ["file_limit"] },
  {
    name: "several files, each within the limit",
    words: `${CARD} ${["a", "b", "c", "out_1"].map((name) => `-frames:v 40 -f rawvideo ${name}`).join(" ")} -f null -`,
    codes: ["disk_limit"],
  },
  {
    name: "many small files",
    words: "-f lavfi -i color=s=16x16 -f image2 x%d.bmp -f null out_1",
    codes: ["disk_limit"],
  },
  {
    name: "endless segments",
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
    name: "a huge contact sheet",
    words: `${LARGE} -vf tile=10x10 -f rawvideo out_1`,
    // ffmpeg 5 does not say why an encoder took no frame.
    codes: ["out_of_memory", "filter_error", "file_limit", "command_failed", "time_limit"],
  },
  {
    name: "a huge picture",
    words: "-f lavfi -i color=s=30000x30000 -frames:v 1 -f rawvideo out_1",
    codes: ["out_of_memory", "file_limit", "filter_error"],
  },
  {
    name: "a picture of an impossible size",
    words: "-f lavfi -i color=s=2000000000x2000000000 -f rawvideo out_1",
    codes: ["out_of_memory", "filter_error", "invalid_option", "invalid_input"],
  },
  {
    name: "more threads than allowed",
    words: `${CARD} ${"-c:v libx264 -threads 128 -f mp4 a ".repeat(4)} -t 1 -f mp4 out_1`,
    codes: ["invalid_option", "process_limit", "out_of_memory"],
  },
  {
    name: "an endless log",
    words: `-v trace ${CARD} -vf showinfo -f null out_1`,
    codes: ["output_limit"],
  },
  {
    name: "a log without line ends",
    words: `${SAMPLES} -f u8 pipe:2 -f null out_1`,
    codes: ["output_limit"],
  },
  {
    name: "endless bytes to stdout",
    words: `${CARD} -f rawvideo - -f null out_1`,
    codes: ["output_limit", "time_limit"],
  },
  {
    name: "endless bytes to the pipe of progress",
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
    name: "hundreds of endless inputs",
    words: `${`${SAMPLES} `.repeat(400)} -filter_complex amix=inputs=400 -f null out_1`,
    codes: ["time_limit", "process_limit", "out_of_memory", "filter_error"],
  },
  {
    name: "hundreds of encoders",
    words: `${SAMPLES} ${"-map 0 -c:a aac -f null - ".repeat(400)} -f null out_1`,
    codes: ["invalid_option", "time_limit", "process_limit", "out_of_memory"],
  },
]
