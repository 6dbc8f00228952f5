import { join } from "node:path"
import { writeChecked } from "./checked-file.ts"
import type { ModelManifest } from "./manifest.ts"

const ANSWER_MS_MAX = 5000
/** How long the hub may send nothing. */
const PAUSE_MS_MAX = 30_000

/**
 * Downloads the files of a model into a folder, the small ones first, so that a hub which is out of
 * reach costs little. Throws a sentence without its full stop that names the hub.
 */
export async function downloadFromHub(
  hub: string,
  { repository, revision, files }: ModelManifest,
  folder: string,
): Promise<void> {
  for (const [name, expected] of Object.entries(files)) {
    const url = `${hub.replace(/\/+$/, "")}/${repository}/resolve/${revision}/${name}`
    try {
      await writeChecked(download(url), join(folder, name), expected)
    } catch (error) {
      throw new Error(`${url} ${describe(error)}`, { cause: error })
    }
  }
}

async function* download(url: string): AsyncGenerator<Uint8Array> {
  const aborting = new AbortController()
  const { signal } = aborting
  const early = setTimeout(() => aborting.abort(late(ANSWER_MS_MAX)), ANSWER_MS_MAX)
  const response = await fetch(url, { signal }).finally(() => clearTimeout(early))
  const pause = setTimeout(() => aborting.abort(late(PAUSE_MS_MAX)), PAUSE_MS_MAX)
  try {
    if (!response.ok || !response.body) throw new Error(`answered ${response.status}`)
    for await (const chunk of response.body) {
      pause.refresh()
      yield chunk
    }
  } finally {
    clearTimeout(pause)
    aborting.abort()
  }
}

function late(ms: number): Error {
  return new Error(`sent nothing for ${ms / 1000} seconds`)
}

/** What happened, as the end of a sentence; fetch hides it in the cause of its error. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error instanceof TypeError) return `failed (${causeOf(error)})`
  return error.message
}

function causeOf({ cause, message }: Error): string {
  return cause instanceof Error ? cause.message : message
}
