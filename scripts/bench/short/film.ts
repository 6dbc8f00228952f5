import { join } from "node:path"
import { runBare } from "../media.ts"
import { systemTools } from "./system-tools.ts"

export const FILM_NAME = "film.mp4"
export const LARGE_BYTES = 300_000_000

const SMALL =
  "-f lavfi -i testsrc2=size=320x180:rate=16 -f lavfi -i sine=frequency=440 -t 2.8 " +
  "-c:v libx264 -preset veryfast -pix_fmt yuv420p -c:a aac -b:a 64k"
const SCENE =
  "-f lavfi -i testsrc2=size=1280x720:rate=25,noise=alls=20:allf=t -f lavfi -i sine=frequency=440 " +
  "-t 4 -c:v libx264 -preset ultrafast -b:v 8M -pix_fmt yuv420p -c:a aac"

/** Makes a film of 89 KB, video and audio of some seconds, and returns its path. */
export async function makeSmallFilm(folder: string): Promise<string> {
  return await make(folder, FILM_NAME, SMALL.split(" "))
}

/** Makes a film of 300 MB, some minutes with their index at the end, and returns its path. */
export async function makeLargeFilm(folder: string): Promise<string> {
  const scene = await make(folder, "scene.mp4", SCENE.split(" "))
  const again = ["-stream_loop", "-1", "-i", scene, "-c", "copy", "-fs", String(LARGE_BYTES)]
  return await make(folder, "large.mp4", again)
}

async function make(folder: string, name: string, words: string[]): Promise<string> {
  const path = join(folder, name)
  await runBare(systemTools.ffmpeg, ["-v", "error", "-nostdin", "-y", ...words, path], folder)
  return path
}
