import { execFile, spawnSync } from "node:child_process"
import { promisify } from "node:util"

/** Whether tests can have something spoken; they say so where they are skipped. */
export function hasFlite(): boolean {
  if (spawnSync("flite", ["-lv"]).status === 0) return true
  console.log("Tests of speech are skipped: there is no flite.")
  return false
}

/** Speaks a text into a WAV file: mono, 16 kHz for the voices slt and rms. */
export async function speak(text: string, path: string, voice = "slt"): Promise<void> {
  await promisify(execFile)("flite", ["-voice", voice, "-t", text, "-o", path])
}
