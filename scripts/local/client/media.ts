import { spawn } from "node:child_process"
import { once } from "node:events"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { mediaTools } from "../media-tools.ts"
import type { Body } from "./caller.ts"

/** What the service does work with, as this process uses it. */
export const tools = mediaTools()

/** A local file as the body of an upload. */
export async function readMedia(path: string): Promise<Pick<Body, "sizeBytes" | "chunks">> {
  const bytes = await readFile(path)
  return { sizeBytes: bytes.byteLength, chunks: [bytes] }
}

/** Has ffmpeg make a file in a folder and returns its path. */
export async function makeMedia(folder: string, name: string, line: string): Promise<string> {
  const path = join(folder, name)
  await runBare(tools.ffmpeg, ["-v", "error", "-nostdin", "-y", ...line.split(" "), path], folder)
  return path
}

/** Runs a tool without a sandbox and returns its stdout; throws where it fails. */
export async function runBare(tool: string, words: string[], folder: string): Promise<string> {
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

/** One second of video and audio, so small that only the overhead around ffmpeg takes time. */
export const SMALL_MEDIA =
  "-f lavfi -i testsrc=size=64x64:rate=10 -f lavfi -i sine=frequency=440 -t 1 -c:v libx264 -c:a aac"
