import { spawn } from "node:child_process"
import { once } from "node:events"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { findMediaTools } from "../media-tools.ts"
import type { SizedRequestBody } from "./caller.ts"

/**
 * Paths of the ffmpeg and ffprobe that a service would use if it were started with the environment
 * variables of this process.
 */
export const serviceToolPaths = findMediaTools()

/** Reads a local file into the body of an upload. */
export async function readMediaBody(
  path: string,
): Promise<Pick<SizedRequestBody, "sizeBytes" | "chunks">> {
  const bytes = await readFile(path)
  return { sizeBytes: bytes.byteLength, chunks: [bytes] }
}

/**
 * Makes a media file in a folder with ffmpeg and the arguments in `line`. Returns the path of the
 * file.
 */
export async function makeMediaFile(folder: string, name: string, line: string): Promise<string> {
  const path = join(folder, name)
  await runUnsandboxed(
    serviceToolPaths.ffmpeg,
    ["-v", "error", "-nostdin", "-y", ...line.split(" "), path],
    folder,
  )
  return path
}

/** Runs a tool without a sandbox. Returns the tool's stdout. Throws if the tool fails. */
export async function runUnsandboxed(
  tool: string,
  words: string[],
  folder: string,
): Promise<string> {
  const child = spawn(tool, words, { cwd: folder, stdio: ["ignore", "pipe", "ignore"] })
  const chunks: Buffer[] = []
  child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk))
  function stop(): void {
    child.kill("SIGKILL")
  }
  process.once("exit", stop)
  await once(child, "close")
  process.off("exit", stop)
  if (child.exitCode !== 0) throw new Error(`${tool} ended with ${child.exitCode}`)
  return Buffer.concat(chunks).toString()
}

/**
 * Arguments of ffmpeg that make a second of video and audio. The file is so small that its
 * processing takes almost no time.
 */
export const SMALL_MEDIA_ARGUMENTS =
  "-f lavfi -i testsrc=size=64x64:rate=10 -f lavfi -i sine=frequency=440 -t 1 -c:v libx264 -c:a aac"
