import { env } from "cloudflare:workers"
import type { TranscribeResult } from "../../../src/contract/tasks/transcribe.ts"
import {
  TRANSCRIPT_FORMATS,
  TRANSCRIPT_MEDIA_TYPES,
} from "../../../src/contract/tasks/transcribe.ts"
import { makeOutputObjectKey } from "../../../src/domain/object-keys.ts"
import { findCallerAccountId } from "./bundle.ts"
import type { TestCaller } from "../caller.ts"
import { endOnlyTask } from "../tasks.ts"

/** Returns the result of a transcription task as a runner reports it, with some fields replaced. */
export function makeTranscribeResult(changes: Partial<TranscribeResult> = {}): TranscribeResult {
  const outputs = TRANSCRIPT_FORMATS.map((key) => ({
    key,
    size_bytes: makeTranscript(key).length,
    content_type: TRANSCRIPT_MEDIA_TYPES[key],
  }))
  return {
    kind: "transcribe",
    outputs,
    language: "de",
    duration_seconds: 5.2,
    text: "Guten Tag.",
    ...changes,
  }
}

/** Returns the placeholder text that these tests store as the transcript in a format. */
export function makeTranscript(format: string): string {
  return `the transcript as ${format}\n`
}

/**
 * Stores the transcripts of a transcription job in R2, and ends its task with the result. Returns
 * the object keys.
 */
export async function finishTranscription(
  caller: TestCaller,
  jobId: string,
  result: TranscribeResult = makeTranscribeResult(),
): Promise<string[]> {
  const accountId = await findCallerAccountId(caller)
  const run = await endOnlyTask(accountId, jobId, { result })
  const objectKeys = result.outputs.map(({ key }) => [
    key,
    makeOutputObjectKey(accountId, run, key),
  ])
  for (const [key = "", objectKey = ""] of objectKeys) {
    await env.MEDIA.put(objectKey, makeTranscript(key))
  }
  return objectKeys.map(([, objectKey = ""]) => objectKey)
}
