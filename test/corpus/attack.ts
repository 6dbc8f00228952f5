import { execFile } from "node:child_process"
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import type { CanaryPaths } from "./canaries.ts"
import { wordsOf } from "./fixtures.ts"

const run = promisify(execFile)

/**
 * A file that comes with an attack: its text, C source, or the words of ffmpeg that make it and
 * what is done to it then.
 */
export type AttackFile =
  | string
  | { made: string; turn?: (made: Buffer) => Buffer }
  | { source: string }

/** Something that a hostile user sends. */
export type Attack = {
  name: string
  /** Arguments of `ffmpeg`; inputs and outputs by their keys. */
  words: (place: CanaryPaths) => string | string[]
  /** Files that it brings along: name and content by key. */
  inputs?: (place: CanaryPaths) => Record<string, [name: string, content: AttackFile]>
  /** Names by key; one output of plain bytes unless it says otherwise. */
  outputs?: Record<string, string>
  /**
   * Proof of harm besides the canaries: the run succeeds, or a picture that must be black (8 bits a
   * pixel) has bright pixels.
   */
  harm?: "success" | "picture"
  /** Why the ffmpeg of this machine cannot do it; others can, or it may learn it. */
  unproven?: string
}

export const PICTURE = "-f lavfi -i color=black:s=400x40:d=0.1:r=10"
export const TONE = "-f lavfi -i sine=d=0.2"
/** Frames as one byte a pixel. */
export const GRAY = "-pix_fmt gray -f rawvideo out_1"
/** Samples as they come. */
export const BYTES = "-f u8 -ar 8000"

export function outputsOf(attack: Attack): Record<string, string> {
  return attack.outputs ?? { out_1: "out.bin" }
}

/** The files that an attack brings along, by key. */
export async function bring(
  attack: Attack,
  place: CanaryPaths,
): Promise<{ key: string; name: string; content: Uint8Array<ArrayBuffer> }[]> {
  const brought = Object.entries(attack.inputs?.(place) ?? {})
  const all = brought.map(async ([key, [name, content]]) => {
    return { key, name, content: new Uint8Array(await contentOf(name, content)) }
  })
  return await Promise.all(all)
}

async function contentOf(name: string, content: AttackFile): Promise<Buffer> {
  if (typeof content === "string") return Buffer.from(content)
  const folder = await mkdtemp(join(tmpdir(), "lathe-brought-"))
  try {
    if ("source" in content) {
      await writeFile(join(folder, "source.c"), content.source)
      await run("cc", ["-shared", "-fPIC", "-o", name, "source.c"], { cwd: folder })
    } else {
      await mkdir(join(folder, "x"))
      await writeFile(join(folder, "note.txt"), "nothing but a note")
      await run("ffmpeg", ["-v", "error", "-y", ...wordsOf(content.made), name], { cwd: folder })
    }
    const made = await readFile(join(folder, name))
    return "turn" in content && content.turn ? content.turn(made) : made
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Whether a picture of one byte a pixel shows anything. */
export function isLight(bytes: Uint8Array): boolean {
  return bytes.some((value) => value > 100)
}
