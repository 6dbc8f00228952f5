import type { Operation } from "../../http/operation.ts"
import { outputDownload } from "../../http/output-download.ts"
import { transcribe } from "../../kinds/transcribe/kind.ts"

/** The operations of transcriptions beside those that every kind has. */
export const transcribeOperations: readonly Operation[] = [
  outputDownload(transcribe, {
    operationId: "downloadTranscript",
    summary: "Get a short-lived signed link to a transcript",
    exampleName: "transcript.srt",
    absent: {
      pending: "The transcription is still under way; wait for its end.",
      failed: "Nothing was transcribed, so there is no such file",
      reason: "the transcription failed",
    },
  }),
]
