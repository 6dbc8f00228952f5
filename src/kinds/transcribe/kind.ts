import { isEnglishOnlyModel } from "../../contract/speech-models.ts"
import {
  TRANSCRIPT_FORMATS,
  transcribeTaskDefinition,
  transcriptFileName,
} from "../../contract/tasks/transcribe.ts"
import type { TranscribeWork } from "../../contract/tasks/transcribe.ts"
import { newId } from "../../platform/ids.ts"
import { draftInputs, draftJobRow, draftOutputFile, draftTask } from "../../domain/job-draft.ts"
import type { JobDraft } from "../../domain/job-draft.ts"
import { buildTranscriptUrl } from "../file-links.ts"
import { replaceStoredInputFileId } from "../stored-input.ts"
import { defineJsonKind } from "../kind.ts"
import type {
  InputReference,
  DraftContext,
  FinishedTasks,
  FileColumnsAndJobResult,
  DeploymentProperties,
  ResolvedInput,
} from "../kind.ts"
import { getInputUrl } from "../private-input.ts"
import { findMissingStreamFaults } from "../required-streams.ts"
import {
  AUTO_LANGUAGE,
  isAutoLanguage,
  parseLanguageTag,
  doesModelSupportCantonese,
} from "./languages.ts"
import type { SpokenLanguage } from "./languages.ts"
import { transcriptionRecordSchema, buildTranscriptionRecord } from "./record.ts"
import {
  TRANSCRIBE_EXAMPLE_REQUEST,
  readValidTranscribeFields,
  transcribeRequestSchema,
} from "./request.ts"
import type { TranscribeRequest, ValidTranscribeFields } from "./request.ts"
import { computeOutputColumnsAndResult } from "../outputs.ts"
import type { Fault } from "../../domain/faults.ts"
import { findWebhookConflicts } from "../webhook-fields.ts"

const EXPECTED_ONE = "expected exactly one of file_url, source, and file in a multipart body"

/** Returns the faults of a transcription request that its schema cannot find. */
function judgeTranscribe(
  request: ValidTranscribeFields,
  inputs: ResolvedInput[],
  malformed: ReadonlySet<string>,
  { speechModels }: DeploymentProperties,
): Fault[] {
  const { model = speechModels.default } = request
  const isKnown = speechModels.names.includes(model)
  return [
    ...judgeSources(request, malformed),
    ...findMissingStreamFaults(inputs, "audio"),
    ...judgeWebhookForm(request),
    ...(isKnown ? judgeSpeech(request, model) : [unknownModel(speechModels.names)]),
  ]
}

function judgeSources(
  { file_url, source }: ValidTranscribeFields,
  malformed: ReadonlySet<string>,
): Fault[] {
  const isNamed = file_url !== undefined || malformed.has("file_url")
  if (source === undefined && !malformed.has("source")) {
    return isNamed ? [] : [{ field: "file_url", message: `${EXPECTED_ONE}; the request has none` }]
  }
  return isNamed ? [{ field: "source", message: `${EXPECTED_ONE}; the request has several` }] : []
}

function judgeWebhookForm({ source, webhook, webhook_url }: ValidTranscribeFields): Fault[] {
  if (webhook_url === undefined) return []
  const both = findWebhookConflicts({ webhook, webhook_url })
  if (both.length > 0 || source !== undefined) return both
  const message = "expected webhook_url only with source; otherwise use webhook"
  return [{ field: "webhook_url", message }]
}

function unknownModel(names: readonly string[]): Fault {
  return { field: "model", message: `expected one of ${names.join(", ")}` }
}

/**
 * Returns faults of a language or a task (transcribe or translate) that the Whisper model does not
 * support.
 */
function judgeSpeech({ language = "auto", task }: ValidTranscribeFields, model: string): Fault[] {
  const spoken = isAutoLanguage(language) ? null : parseLanguageTag(language)
  const code = spoken && "code" in spoken ? spoken.code : null
  if (!isEnglishOnlyModel(model)) {
    if (code !== "yue" || doesModelSupportCantonese(model)) return []
    const message = `expected zh, since the model ${model} does not distinguish Cantonese from Chinese`
    return [{ field: "language", message }]
  }
  const why = `since the model ${model} knows only English`
  return [
    ...(code === null || code === "en"
      ? []
      : [{ field: "language", message: `expected en or auto, ${why}` }]),
    ...(task === "translate" ? [{ field: "task", message: `expected transcribe, ${why}` }] : []),
  ]
}

const INPUT_KEY = "file"
const ENGLISH: SpokenLanguage = { tag: "en", code: "en" }

/** Kind of job that transcribes the speech in a file with Whisper. */
export const transcribeKind = defineJsonKind({
  name: "transcribe",
  path: "transcribe",
  title: "transcription",
  idField: "transcribe_id",
  respondsWithJob: true,
  tasks: [transcribeTaskDefinition],
  request: transcribeRequestSchema,
  uploadField: "file_url",
  example: TRANSCRIBE_EXAMPLE_REQUEST,
  readUsableFields: readValidTranscribeFields,
  jobFormFields: ["source"],
  references,
  inputField: () => "file_url",
  judge: judgeTranscribe,
  plan: planTranscribe,
  finish: finishTranscribe,
  record: transcriptionRecordSchema,
  view: (base, { job }, progress) => buildTranscriptionRecord(base, job, progress),
  outputUrl: (base, jobId, { name }) => buildTranscriptUrl(base, jobId, name),
  retryRequest: replaceStoredInputFileId,
})

function references({ file_url, source }: ValidTranscribeFields): InputReference[] {
  return Object.entries({ file_url, source }).flatMap(([field, reference]) =>
    reference === undefined ? [] : [{ key: INPUT_KEY, field, reference }],
  )
}

/**
 * Drafts the database rows of a transcription: a job, a task, and a file for each format. The
 * requested format is first.
 */
function planTranscribe(request: TranscribeRequest, context: DraftContext): JobDraft {
  const id = newId()
  const [input] = context.inputs
  const { format, prompt, words_per_cue, max_line_length } = request
  const model = request.model ?? context.speechModels.default
  const language = chooseLanguage(request, model)
  const formats = [format, ...TRANSCRIPT_FORMATS.filter((other) => other !== format)]
  const outputs = formats.map((key) => ({ key, name: transcriptFileName(key) }))
  const work: TranscribeWork = {
    kind: "transcribe",
    model,
    language: language?.code ?? AUTO_LANGUAGE,
    ...(language && { language_tag: language.tag }),
    task: request.task,
    ...(prompt !== undefined && { prompt }),
    ...(words_per_cue !== undefined && { words_per_cue }),
    ...(max_line_length !== undefined && { max_line_length }),
    run_seconds_max: context.runSecondsMax,
    outputs,
  }
  const { file_url, source } = request
  const stored = {
    ...request,
    ...(file_url !== undefined && { file_url: getInputUrl(file_url) }),
    ...(source !== undefined && { source: getInputUrl(source) }),
    model,
    language: language?.tag ?? AUTO_LANGUAGE,
    file_id: input?.fileId,
  }
  return {
    job: draftJobRow(context, { id, kind: "transcribe", request: stored }),
    tasks: [
      draftTask(context, {
        jobId: id,
        pool: transcribeTaskDefinition.pool(),
        work,
        ...draftInputs(context.inputs),
      }),
    ],
    files: outputs.map(({ key, name }) =>
      draftOutputFile(context, { jobId: id, outputKey: key, name, source: "transcript" }),
    ),
  }
}

/** Returns the language that the request states; null if Whisper is to detect the language. */
function chooseLanguage({ language }: TranscribeRequest, model: string): SpokenLanguage | null {
  if (isAutoLanguage(language)) return isEnglishOnlyModel(model) ? ENGLISH : null
  const spoken = parseLanguageTag(language)
  return "error" in spoken ? null : spoken
}

/**
 * Returns the new column values of the job's files, and the job's result, after a transcription.
 * The output in the requested format is first.
 */
function finishTranscribe({
  files,
  tasks,
}: Pick<FinishedTasks, "files" | "tasks">): FileColumnsAndJobResult {
  const [done] = tasks
  if (!done) return { files: [], result: { outputs: [] } }
  const { language, duration_seconds, text } = transcribeTaskDefinition.result.parse(done.result)
  const stored = computeOutputColumnsAndResult({ files, tasks })
  const order = done.task.work.outputs?.map(({ key }) => key) ?? []
  const outputs = stored.result.outputs
    .toSorted((one, other) => order.indexOf(one.key) - order.indexOf(other.key))
    // Transcripts with timestamps have the duration of the audio; a plain text has no duration.
    .map((output) => ({
      ...output,
      ...(output.key !== "txt" && { durationSeconds: duration_seconds }),
    }))
  return {
    files: stored.files,
    result: { outputs, transcribed: { language, duration_seconds, text } },
  }
}
