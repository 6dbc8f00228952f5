import { lastValue, readCommand } from "../../../src/contract/command-line.ts"

/** The frames and the bytes that the output of a command has at most; null where it has no bound. */
export type OutputBounds = { frames: number | null; bytes: number | null }

/** What bounds the one output of a command: of several, ffmpeg reports frames and bytes of the first. */
export function outputBounds(argv: readonly string[]): OutputBounds {
  const [output, ...others] = readCommand(argv).files.filter(({ kind }) => kind === "output")
  if (!output || others.length > 0) return { frames: null, bytes: null }
  const frames = output.options.findLast(({ word }) => FRAMES.test(word))
  return { frames: readBound(frames?.value), bytes: readBound(lastValue(output, "fs")) }
}

const FRAMES = /^-(?:vframes|frames(?::v(?::0)?)?)$/

function readBound(text: string | null | undefined): number | null {
  return /^[1-9]\d{0,14}$/.test(text ?? "") ? Number(text) : null
}
