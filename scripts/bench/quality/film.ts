import { makeMedia } from "../media.ts"

/** Scenes that are easy and hard to encode, each for a third of the film. */
const SCENES = [
  "mandelbrot=size=480x270:rate=30,scale=1920:1080:flags=bicubic,noise=alls=2:allf=t",
  "testsrc2=size=1920x1080:rate=30",
  "gradients=size=960x540:rate=30:speed=0.05:seed=3,scale=1920:1080,noise=alls=4:allf=t",
]

/** Makes a film of 1080p of some seconds, with the few keyframes that encoders set by themselves. */
export async function makeFilm(folder: string, name: string, seconds: number): Promise<string> {
  const frames = `trim=duration=${seconds / SCENES.length},format=yuv420p,setsar=1,setpts=PTS-STARTPTS`
  const scenes = SCENES.map((scene, at) => `${scene},${frames}[s${at}]`)
  const inputs = SCENES.map((_, at) => `[s${at}]`).join("")
  const graph = [...scenes, `${inputs}concat=n=${SCENES.length}[v]`].join(";")
  const encoder = "-c:v libx264 -preset veryfast -crf 18"
  return await makeMedia(folder, name, `-filter_complex ${graph} -map [v] ${encoder}`)
}
