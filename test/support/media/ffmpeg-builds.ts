import { execFileSync } from "node:child_process"

/** Properties of an ffmpeg build that tests depend on. */
export type FfmpegBuild = {
  name: string
  /** Whether it is the project's own, which the image has. */
  isOwn: boolean
  /** Whether every attack that is not marked as unproven was seen to work on it. */
  isMeasured: boolean
  /** Groups of ATTACKS that it cannot do, since it has no code for them. */
  cannot: readonly string[]
  /** Whether an option turns a film that is copied; before version 6 metadata of its stream do. */
  turnsByOption: boolean
}

/** The builds that tests run on; another one is taken for a build of which nothing is known. */
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

/** The build of a program. */
export function ffmpegBuildOf(program: string): FfmpegBuild {
  const banner = execFileSync(program, ["-version"], { encoding: "utf8" })
  const turnsByOption = !/^ffmpeg version [0-5]\./.test(banner)
  return BUILDS.find((each) => each.banner.test(banner)) ?? { ...OTHER, turnsByOption }
}

/** Words that copy a film and say that it is shown turned, clockwise by degrees. */
export function turning({ turnsByOption }: FfmpegBuild, input: string, degrees: number): string {
  return turnsByOption
    ? `-display_rotation -${degrees} -i ${input} -c copy`
    : `-i ${input} -c copy -metadata:s:v:0 rotate=${360 - degrees}`
}
