import type { Operation } from "../output/operation.ts"
import { makeOutputDownloadOperation } from "../output/output-download.ts"
import { transcribeKind } from "../../kinds/transcribe/kind.ts"

/** Operations of transcriptions in addition to those of every job kind. */
export const transcribeOperations: readonly Operation[] = [
  makeOutputDownloadOperation(transcribeKind, {
    operationId: "downloadTranscript",
    summary: "Get a signed link to a transcript",
    exampleName: "transcript.srt",
    unavailableMessages: {
      pending: "The transcription has not ended; wait for its end.",
      failed: "The transcription failed and has no file",
      reason: "the transcription failed",
    },
  }),
]
