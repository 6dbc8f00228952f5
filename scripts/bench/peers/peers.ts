import type { Figure } from "../figure.ts"
import { readMedia } from "../media.ts"
import type { BenchScope } from "../scope.ts"
import { startBenchService } from "../service.ts"
import { openBare } from "../short/bare.ts"
import { compareContenders } from "../short/cases.ts"
import { makeSmallFilm } from "../short/film.ts"
import { openLathe } from "../short/lathe.ts"
import { sayTools } from "../short/system-tools.ts"
import { openFfmpegRest } from "./ffmpeg-rest.ts"

/** The cases of short work by this service, by ffmpeg-rest where PEERS has it, and by bare tools. */
export async function benchPeers(scope: BenchScope): Promise<Figure[]> {
  const path = await makeSmallFilm(await scope.makeFolder())
  const { PEERS: checkout, REDIS_URL: redisUrl } = process.env
  if (!checkout) {
    console.error("PEERS names no checkout of ffmpeg-rest: only this service and bare tools run.")
  }
  const peers = checkout
    ? { "ffmpeg-rest": await openFfmpegRest(scope, checkout, { path, redisUrl }) }
    : {}
  const service = await startBenchService(scope)
  const lathe = await openLathe(service, await readMedia(path))
  const usesBareTools = await sayTools(service)
  return await compareContenders("peers", { bare: openBare(path), lathe, usesBareTools, peers })
}
