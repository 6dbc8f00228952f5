import { rm } from "node:fs/promises"
import { transcribeTask } from "../../src/contract/tasks/transcribe.ts"
import type { TranscribeResult, TranscribeWork } from "../../src/contract/tasks/transcribe.ts"
import type { Warning } from "../../src/contract/warning.ts"
import { plainText } from "../captions/write-transcript.ts"
import { callerFailure } from "../failures.ts"
import type { TaskFailure } from "../failures.ts"
import { transcribeSound } from "../tools/whisper/transcribe-sound.ts"
import type { HeardSpeech } from "../tools/whisper/transcribe-sound.ts"
import { startRunClock } from "./run-clock.ts"
import type { RunClock } from "./run-clock.ts"
import { markProcessStarted } from "./run-context.ts"
import type { RunContext, TaskOutcome } from "./run-context.ts"
import { downloadInput } from "./single-input.ts"
import { DECODE_SHARE, SAMPLES_PER_SECOND, decodeSound } from "./transcribe/decode-sound.ts"
import type { Sound } from "./transcribe/decode-sound.ts"
import { storeTranscript } from "./transcribe/store-transcript.ts"

export const transcribe = { definition: transcribeTask, run: runTranscribeTask }

/** Decodes the sound of the input, has whisper write down what is said, and stores that. */
async function runTranscribeTask(
  context: RunContext,
  work: TranscribeWork,
): Promise<TaskOutcome<TranscribeResult>> {
  const input = await downloadInput(context, "A transcription")
  const clock = startRunClock(context, {
    secondsMax: work.run_seconds_max,
    what: "a transcription",
  })
  const sound = await decodeSound(context, clock, input)
  if ("failure" in sound) return sound
  const heard = await hear(context, clock, work, sound)
  if ("failure" in heard) return heard
  context.status.phase = "uploading"
  const { language, segments } = heard
  const durationSeconds = Math.round((sound.sampleCount / SAMPLES_PER_SECOND) * 1000) / 1000
  const outputs = await storeTranscript(context, work, { language, segments, durationSeconds })
  const text = plainText(segments)
  const warnings = [...sound.warnings, ...(text === "" ? [NO_SPEECH] : [])]
  return {
    result: {
      kind: "transcribe",
      outputs,
      language,
      duration_seconds: durationSeconds,
      text,
      warnings,
    },
  }
}

const NO_SPEECH: Warning = {
  code: "no_speech",
  message: "No speech was found in the sound, so that the transcript is empty.",
}

async function hear(
  context: RunContext,
  clock: RunClock,
  { model, language, task, prompt }: TranscribeWork,
  { path, sampleCount }: Sound,
): Promise<HeardSpeech | TaskFailure> {
  try {
    const heard = await transcribeSound(context, {
      path,
      sampleCount,
      model,
      language,
      task,
      prompt,
      timeLimitMs: clock.leftMs(),
      onSpawn: () => markProcessStarted(context, "whisper"),
      onFraction: (fraction) => clock.report(DECODE_SHARE + (1 - DECODE_SHARE) * fraction),
    })
    if (heard !== "time limit") return heard
    return callerFailure("time_limit", clock.describeLimit())
  } finally {
    await rm(path, { force: true })
  }
}
