import type { RunnerSettings } from "../../../container/settings.ts"
import type { Report } from "../../../src/contract/report.ts"
import type { TaskOrder } from "../../../src/contract/task.ts"
import { fetchTaskDefinition } from "../../../src/contract/tasks/fetch.ts"
import type { FetchResult, FetchWork } from "../../../src/contract/tasks/fetch.ts"
import { metadataTaskDefinition } from "../../../src/contract/tasks/metadata.ts"
import { startTestSite } from "../../support/site/site.ts"
import type { TestSite } from "../../support/site/site.ts"
import { startHarness } from "../harness.ts"
import type { Harness } from "../harness.ts"

/** Runner with the real yt-dlp, and the web site that it may reach. */
export type FetchHarness = AsyncDisposable & {
  site: TestSite
  harness: Harness
  /** Fetches a path of the site or a URL; returns the last report. */
  fetch(path: string, differing?: Partial<FetchWork>, more?: Partial<TaskOrder>): Promise<Report>
  metadata(path: string, more?: Partial<TaskOrder>): Promise<Report>
}

/**
 * Starts a runner and a site. `differing` overrides settings of the runner, which may also reach
 * `hosts`.
 */
export async function startFetchHarness(
  differing: Partial<RunnerSettings> = {},
  hosts: readonly string[] = [],
): Promise<FetchHarness> {
  const site = await startTestSite()
  const egress = { allowedHosts: [site.host, ...hosts], proxy: null, sites: [] }
  const harness = await startHarness({ egress, ...differing })
  async function finish(work: FetchWork | Record<string, unknown>, more?: Partial<TaskOrder>) {
    harness.io.reports.length = 0
    harness.io.outputs.clear()
    const order = harness.order([["x"]], { ...more, work: { kind: "", ...work } })
    return await harness.finish(order)
  }
  return {
    site,
    harness,
    fetch(path, of, more) {
      const url = path.startsWith("/") ? site.url(path) : path
      return finish({ ...DEFAULT_WORK, url, ...of }, more)
    },
    metadata(path, more) {
      const url = path.startsWith("/") ? site.url(path) : path
      return finish({ kind: "metadata", url, run_seconds_max: 30 }, more)
    },
    async [Symbol.asyncDispose]() {
      try {
        await harness.closeClean()
      } finally {
        await site.close()
      }
    },
  }
}

const DEFAULT_WORK = {
  kind: "fetch" as const,
  quality: "best" as const,
  subtitles: [],
  bytes_max: 1024 ** 3,
  run_seconds_max: 60,
  outputs: ["media", "subtitles_1", "subtitles_2"].map((key) => ({ key, name: key })),
}

/** Returns the result of a successful fetch; throws for any other report. */
export function fetched(report: Report): FetchResult {
  if (report.kind === "finished") return fetchTaskDefinition.result.parse(report.result)
  throw new Error(`It did not go well: ${JSON.stringify(report)}`)
}

/** Returns the metadata of a successful lookup; throws for any other report. */
export function described(report: Report) {
  if (report.kind === "finished") return metadataTaskDefinition.result.parse(report.result).metadata
  throw new Error(`It did not go well: ${JSON.stringify(report)}`)
}
