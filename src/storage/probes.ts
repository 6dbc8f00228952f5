import { probeResult } from "../contract/probe.ts"
import type { ProbeResult } from "../contract/probe.ts"
import { probeObjectKey } from "./objects.ts"
import type { File } from "./schema.ts"

/** A probe above this many characters is kept in R2 and only its head in the row. */
const ROW_PROBE_LENGTH_MAX = 32 * 1024

/** What a file's row is to hold of its probe; one that is too big for it goes to R2. */
export async function storeProbe(
  bucket: R2Bucket,
  probe: ProbeResult,
  objectKey: string,
): Promise<Pick<File, "probe" | "probeObjectKey">> {
  const text = JSON.stringify(probe)
  if (text.length <= ROW_PROBE_LENGTH_MAX) return { probe, probeObjectKey: null }
  const key = probeObjectKey(objectKey)
  await bucket.put(key, text)
  return { probe: { ...probe, streams: [], format: {} }, probeObjectKey: key }
}

/** A file with its whole probe, wherever that is kept. */
export async function withWholeProbe(bucket: R2Bucket, file: File): Promise<File> {
  if (file.probeObjectKey === null) return file
  const object = await bucket.get(file.probeObjectKey)
  return object ? { ...file, probe: probeResult.parse(await object.json()) } : file
}
