import { execFileSync } from "node:child_process"

/** Properties of an ffmpeg build that tests depend on. */
export type FfmpegBuild = {
  name: string
  /** Whether the project built this ffmpeg, as in the image of the runners. */
  isOwn: boolean
  /**
   * Whether each attack of `ATTACKS` without the mark `unproven` was observed to succeed on this
   * build, without the service's protections.
   */
  isMeasured: boolean
  /**
   * Groups of `ATTACKS` (hostile commands) that are impossible on this build, because the build
   * lacks the attacked code.
   */
  cannot: readonly string[]
  /**
   * Whether this ffmpeg can mark a copied video stream as rotated by an option. Before version 6,
   * only stream metadata can do so.
   */
  turnsByOption: boolean
}

/** ffmpeg builds on which the tests run. A build that is not in the list counts as unknown. */
const BUILDS: readonly (FfmpegBuild & { banner: RegExp })[] = [
  {
    name: "Debian 12's",
    banner: /^ffmpeg version 5\.1\./,
    isOwn: false,
    isMeasured: true,
    cannot: [],
    turnsByOption: false,
  },
  {
    name: "the project's own",
    banner: /^ffmpeg version 7\.1\.[^]* --disable-network /,
    isOwn: true,
    isMeasured: false,
    cannot: ["opening a connection", "running code"],
    turnsByOption: true,
  },
]

const OTHER = { name: "another", isOwn: false, isMeasured: false, cannot: [] }

/** Returns the known properties of an ffmpeg program by the output of `-version`. */
export function detectFfmpegBuild(program: string): FfmpegBuild {
  const banner = execFileSync(program, ["-version"], { encoding: "utf8" })
  const turnsByOption = !/^ffmpeg version [0-5]\./.test(banner)
  return BUILDS.find((each) => each.banner.test(banner)) ?? { ...OTHER, turnsByOption }
}

/** Returns arguments that copy a video and mark it as rotated clockwise by some degrees. */
export function makeRotationArguments(
  { turnsByOption }: FfmpegBuild,
  input: string,
  degrees: number,
): string {
  return turnsByOption
    ? `-display_rotation -${degrees} -i ${input} -c copy`
    : `-i ${input} -c copy -metadata:s:v:0 rotate=${360 - degrees}`
}
