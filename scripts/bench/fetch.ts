import { z } from "zod"
import { openSite } from "../../test/support/site/site.ts"
import type { Site } from "../../test/support/site/site.ts"
import { FETCH_PYTHON_PATH } from "../setup/yt-dlp.ts"
import { jsonBody } from "./caller.ts"
import { formatDifference, formatMs, formatRatio, formatSeconds } from "./figure.ts"
import type { Figure } from "./figure.ts"
import { makeMedia, runBare, SMALL_MEDIA } from "./media.ts"
import { untilSuccess, uploadMedia } from "./requests.ts"
import type { BenchScope } from "./scope.ts"
import { startBenchService } from "./service.ts"
import type { BenchService } from "./service.ts"
import { compareMedians, timeMs } from "./statistics.ts"

const PAGES = [
  { name: "one file", path: "/page/video" },
  { name: "HLS, sound and pictures apart", path: "/page/groups" },
]
const FETCH_ROUNDS = { warmUp: 1, counted: 7 }
const FETCH_GOAL = { ratio: 1.1, extraMs: 300 }
const LOOKUP_ROUNDS = { warmUp: 10, counted: 100 }
const LOOKUP_GOAL_MS = 20
const BARE =
  "-I -m yt_dlp -q --ignore-config --no-cache-dir --no-warnings --force-overwrites -o".split(" ")

const created = z.object({ fetch_id: z.string() })

/** Pages fetched end to end beside yt-dlp alone, and lookups of what is known already. */
export async function benchFetch(scope: BenchScope): Promise<Figure[]> {
  const site = scope.use(await openSite())
  const folder = await scope.makeFolder()
  const service = await startBenchService(scope, {
    settings: { ALLOWED_PRIVATE_HOSTS: site.host, PAID_REQUESTS_PER_MINUTE: "100000" },
  })
  const figures: Figure[] = []
  for (const page of PAGES) figures.push(await benchPage(service, site, folder, page))
  figures.push(await benchLookup(service, site, folder))
  return figures
}

async function benchPage(
  service: BenchService,
  site: Site,
  folder: string,
  { name, path }: (typeof PAGES)[number],
): Promise<Figure> {
  const url = site.url(path)
  const { measured, reference } = await compareMedians(
    FETCH_ROUNDS,
    () => timeMs(() => fetchPage(service, url)),
    () => timeMs(() => runBare(FETCH_PYTHON_PATH, [...BARE, "bare.%(ext)s", url], folder)),
  )
  return {
    name: `fetch: a page (${name}), accepted until success, median`,
    measured: formatSeconds(measured),
    reference: `${formatSeconds(reference)} bare yt-dlp`,
    comparison: formatRatio(measured / reference),
    goal: `<= ${FETCH_GOAL.ratio} x + ${FETCH_GOAL.extraMs / 1000} s`,
    isMet: measured <= reference * FETCH_GOAL.ratio + FETCH_GOAL.extraMs,
  }
}

async function fetchPage({ caller, whenLogged }: BenchService, url: string): Promise<void> {
  const { text } = await caller.ask("POST", "/v1/fetch", jsonBody({ url }))
  const id = created.parse(JSON.parse(text)).fetch_id
  // Polling meanwhile would take processor time from the fetch that is measured.
  await whenLogged("task.ended", id)
  await untilSuccess(caller, `/v1/fetch/${id}`)
}

async function benchLookup({ caller }: BenchService, site: Site, folder: string): Promise<Figure> {
  const fileId = await uploadMedia(caller, await makeMedia(folder, "small.mp4", SMALL_MEDIA))
  const query = new URLSearchParams({ url: site.url("/page/json-ld") })
  const lookup = `/v1/fetch/metadata?${query.toString()}`
  const { measured, reference } = await compareMedians(
    LOOKUP_ROUNDS,
    () => timeMs(() => caller.ask("GET", lookup)),
    () => timeMs(() => caller.ask("GET", `/v1/files/${fileId}`)),
  )
  return {
    name: "fetch: GET /fetch/metadata of a page that was looked up before, p50",
    measured: formatMs(measured),
    reference: `${formatMs(reference)} GET /files/{id}`,
    comparison: formatDifference(measured - reference, formatMs),
    goal: `<= ${LOOKUP_GOAL_MS} ms`,
    isMet: measured <= LOOKUP_GOAL_MS,
  }
}
