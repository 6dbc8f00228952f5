import { isEnglishOnly } from "../../contract/speech-models.ts"
import {
  TRANSCRIPT_FORMATS,
  transcribeTask,
  transcriptName,
} from "../../contract/tasks/transcribe.ts"
import type { TranscribeWork } from "../../contract/tasks/transcribe.ts"
import { newId } from "../../ids.ts"
import { draftInputs, draftJob, draftOutput, draftTask } from "../../storage/job-drafts.ts"
import type { JobDraft } from "../../storage/job-drafts.ts"
import { transcriptUrl } from "../file-links.ts"
import { withNewInput } from "../kept-input.ts"
import { jsonKind } from "../kind.ts"
import type { InputReference, PlanFacts } from "../kind.ts"
import { finishTranscribe } from "./finish.ts"
import { judgeTranscribe } from "./judge.ts"
import { AUTO, isAuto, readLanguage } from "./languages.ts"
import type { SpokenLanguage } from "./languages.ts"
import { transcriptionRecord, viewTranscription } from "./record.ts"
import { EXAMPLE, readUsable, transcribeRequest } from "./request.ts"
import type { TranscribeRequest, UsableTranscribe } from "./request.ts"

const INPUT_KEY = "file"
const ENGLISH: SpokenLanguage = { tag: "en", code: "en" }

/** What is said in a file, written down by whisper. */
export const transcribe = jsonKind({
  name: "transcribe",
  path: "transcribe",
  title: "transcription",
  idField: "transcribe_id",
  answersJob: true,
  tasks: [transcribeTask],
  request: transcribeRequest,
  uploadField: "file_url",
  example: EXAMPLE,
  readUsable,
  jobFormFields: ["source"],
  references,
  inputField: () => "file_url",
  judge: judgeTranscribe,
  plan: planTranscribe,
  finish: finishTranscribe,
  record: transcriptionRecord,
  view: (base, { job }, progress) => viewTranscription(base, job, progress),
  outputUrl: (base, jobId, { name }) => transcriptUrl(base, jobId, name),
  requestAgain: withNewInput,
})

function references({ file_url, source }: UsableTranscribe): InputReference[] {
  return Object.entries({ file_url, source }).flatMap(([field, reference]) =>
    reference === undefined ? [] : [{ key: INPUT_KEY, field, reference }],
  )
}

/** One task, and a file to come for each format, the asked one first. */
function planTranscribe(request: TranscribeRequest, facts: PlanFacts): JobDraft {
  const id = newId()
  const [input] = facts.inputs
  const { format, prompt, words_per_cue, max_line_length } = request
  const model = request.model ?? facts.speechModels.default
  const language = languageOf(request, model)
  const formats = [format, ...TRANSCRIPT_FORMATS.filter((other) => other !== format)]
  const outputs = formats.map((key) => ({ key, name: transcriptName(key) }))
  const work: TranscribeWork = {
    kind: "transcribe",
    model,
    language: language?.code ?? AUTO,
    ...(language && { language_tag: language.tag }),
    task: request.task,
    ...(prompt !== undefined && { prompt }),
    ...(words_per_cue !== undefined && { words_per_cue }),
    ...(max_line_length !== undefined && { max_line_length }),
    run_seconds_max: facts.runSecondsMax,
    outputs,
  }
  const asked = { ...request, model, language: language?.tag ?? AUTO, file_id: input?.fileId }
  return {
    job: draftJob(facts, { id, kind: "transcribe", request: asked }),
    tasks: [
      draftTask(facts, {
        jobId: id,
        pool: transcribeTask.pool(),
        work,
        ...draftInputs(facts.inputs),
      }),
    ],
    files: outputs.map(({ key, name }) =>
      draftOutput(facts, { jobId: id, outputKey: key, name, source: "transcript" }),
    ),
  }
}

/** The language that is known to be spoken; null where it is to be found. */
function languageOf({ language }: TranscribeRequest, model: string): SpokenLanguage | null {
  if (isAuto(language)) return isEnglishOnly(model) ? ENGLISH : null
  const read = readLanguage(language)
  return "error" in read ? null : read
}
