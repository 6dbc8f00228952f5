import type { z } from "zod"
import type { Member } from "../contract/bundle.ts"
import type { Failure } from "../contract/failure.ts"
import type { SpeechModels } from "../contract/speech-models.ts"
import type { TaskResult } from "../contract/task.ts"
import type { TaskDefinition } from "../contract/tasks/definition.ts"
import type { Fault } from "../domain/faults.ts"
import type { Retention } from "../domain/retention.ts"
import type { Progress } from "../domain/progress.ts"
import type { JobDraft, JobProperties } from "../domain/job-draft.ts"
import type { File } from "../db/schema/files.ts"
import type { Job, JobResult } from "../db/schema/jobs.ts"
import type { Task } from "../db/schema/tasks.ts"
import type { JobSnapshot } from "../domain/snapshot.ts"
import type { FfmpegCapabilities } from "./command/facts/capabilities.ts"
import type { ImportUrl } from "./import-url.ts"
import type { InputValue } from "./private-input.ts"
import type { StoredUpload } from "./uploads.ts"

/** Finished task with its result, which the definition of the task's kind has parsed. */
export type FinishedTask = { task: Task; result: TaskResult }

/** Finished tasks of a job except imports and probes; `files` are all files of the job. */
export type FinishedTasks = { job: Job; files: File[]; tasks: FinishedTask[] }

/** Changes after tasks have finished: columns of files of the job, and the job's result. */
export type FinishChanges = {
  files: { id: string; set: Partial<File> }[]
  /** Files that are not stored, because each would equal another file of the job. */
  sameFiles?: { id: string; sameAs: string }[]
  /** Result of the job, which counts after the last task has finished. */
  result: JobResult
}

/**
 * Kind of job: all code of the Worker for one kind of work, in pure functions. The pipeline, the
 * routes and the webhooks use this interface and name no kind.
 */
export type Kind<RecordSchema extends z.ZodType<object> = z.ZodType<object>> = {
  /** Value of `kind` in jobs, and first part of their webhook event types. */
  name: string
  /** Path of the kind's jobs below /v1, without a leading slash. */
  path: string
  /** Noun for one job of the kind, for messages. */
  title: string
  /** Whether jobs of the kind are internal and never listed. */
  isUnlisted?: boolean
  /** Definitions of the tasks that jobs of the kind can have. */
  tasks: readonly TaskDefinition[]
  /** Returns the name of the request field that has the input with the key. */
  inputField: (key: string) => string
  /**
   * Converts the results of finished tasks to changes of the job. The pipeline calls `finish` after
   * each finished task with all finished tasks, and finishes imports and probes itself.
   */
  finish(done: FinishedTasks): FinishChanges
  /** Schema of the record that GET returns and webhooks carry. */
  record: RecordSchema
  view(
    base: string,
    snapshot: Pick<JobSnapshot, "job" | "files">,
    progress: Progress | null,
    retention: Retention,
  ): z.infer<RecordSchema>
  /** Returns the name by which references name the output with a key; the key by default. */
  outputName?(key: string): string
  /** Returns the URL of an output that is not a File; null for a File. */
  outputUrl?(base: string, jobId: string, output: { key: string; name: string }): string | null
  /** Returns the failure of a job whose task failed; by default the failure of the task. */
  explainFailure?(failure: Failure, failed: Task, tasks: readonly Task[]): Failure
  /** Returns the reason why a job with this request cannot be retried; null for other jobs. */
  refuseRetry?(request: unknown): string | null
  /** Returns the stored request for a retry; `newIds` maps the ids of Files to import again. */
  retryRequest?(request: unknown, newIds: ReadonlyMap<string, string>): unknown
}

/** Input in a request: key of the input, name of the field, and value of the field. */
export type InputReference = { key: string; field: string; reference: InputValue }

/** Source of an input that becomes a File together with its job: a URL, or an uploaded body. */
export type InputSource = ImportUrl | StoredUpload

/**
 * Input of a request after the lookup of its File. `file` is null if the account has no such File,
 * or if the job makes the File from `source`.
 */
export type ResolvedInput = {
  key: string
  field: string
  fileId: string
  file: File | null
  source?: InputSource
  /** Whether the input is an output of another job of the same batch whose request has faults. */
  isUnknown?: boolean
}

/** Properties of the deployment that requests can refer to. */
export type DeploymentProperties = { speechModels: SpeechModels }

/** Properties of the deployment that `judge` compares a request with. */
export type ValidationContext = DeploymentProperties & {
  /** Capabilities of the ffmpeg build that runs commands; null if unknown. */
  ffmpeg: FfmpegCapabilities | null
}

/** Data from which `plan` drafts a job, in addition to the request. */
export type DraftContext = JobProperties &
  DeploymentProperties & {
    inputs: ResolvedInput[]
    /**
     * Limits of the account's plan when the request arrives. The dispatch of a task replaces these
     * limits by the current ones (`limitRun`, `src/scheduler/dispatch-task.ts`).
     */
    runSecondsMax: number
    fileBytesMax: number
  }

/** Fields of every request for a job; the Job form has `webhook_url` instead of `webhook`. */
export type CreateRequest = {
  webhook?: string | null | undefined
  webhook_url?: string | null | undefined
  metadata?: { [name: string]: string } | null | undefined
  priority?: number | undefined
  expires_in?: number | null | undefined
  publish?: boolean | undefined
}

/** Kind with generated routes for JSON bodies; `Usable` has the valid fields of an invalid body. */
export type JsonKind<
  Input extends CreateRequest = CreateRequest,
  Usable = unknown,
  RecordSchema extends z.ZodType<object> = z.ZodType<object>,
> = Kind<RecordSchema> & {
  /** Field with the id of the job in the response to the POST. */
  idField: string
  /**
   * Whether the kind has only the Job form: the POST returns the Job record, every fault of the
   * body is a 400, and GET /jobs returns the jobs.
   */
  isJobForm?: boolean
  /** Whether the response to the POST also has the Job record, for callers of the Job form. */
  respondsWithJob?: boolean
  request: z.ZodType<Input>
  /** Whether the record contains the request; lists omit a long request. */
  showsRequest?: boolean
  /**
   * Field that the part `file` of a multipart body can replace. The service stores the uploaded
   * file and sets the field to the id of the File.
   */
  uploadField?: string
  /** Valid request for the documentation; tests replace EXAMPLE_INPUT by a File. */
  example: unknown
  /** Returns the valid fields of an invalid body, so that one response can report all faults. */
  readUsableFields(body: object): Usable
  /** Fields that only the Job form has; every fault of a body with such a field is a 400. */
  jobFormFields?: readonly string[]
  references(request: Usable): InputReference[]
  /** Returns the URLs to fetch, with the names of their fields. */
  urls?(request: Usable): { field: string; url: InputValue }[]
  /** Returns the webhook URLs with the names of their fields, if a request can nest them. */
  webhooks?(request: Usable): { field: string; url: string }[]
  /** Returns the fields of `CreateRequest`, if a request can nest them. */
  createFields?(request: Input): CreateRequest
  /**
   * Returns the faults of a request that neither its schema nor the lookup of inputs can find;
   * `malformed` has the names of fields that do not match the schema.
   */
  judge(
    request: Usable,
    inputs: ResolvedInput[],
    malformed: ReadonlySet<string>,
    deployment: ValidationContext,
  ): Fault[]
  /** Response to the validation of a request; without `preview`, the kind has no such route. */
  preview?: {
    schema: z.ZodObject
    show: (request: Usable, inputs: ResolvedInput[], deployment: ValidationContext) => object
  }
  /** Drafts the job, its tasks and its files, for a request without faults. */
  plan(request: Input, context: DraftContext): JobDraft
}

/** JSON kind without type parameters, so that kinds of different types fit in a list. */
export type AnyJsonKind = Kind & {
  /** Calls `use` with the kind and its type parameters. */
  withTypes<Value>(
    use: <Input extends CreateRequest, Usable, RecordSchema extends z.ZodObject>(
      kind: JsonKind<Input, Usable, RecordSchema>,
    ) => Value,
  ): Value
}

/** Defines a JSON kind: checks its types, then erases the type parameters for the registry. */
export function defineJsonKind<
  Input extends CreateRequest,
  Usable,
  RecordSchema extends z.ZodObject,
  Specified extends JsonKind<Input, Usable, RecordSchema>,
>(kind: Specified & JsonKind<Input, Usable, RecordSchema>): Specified & AnyJsonKind {
  return { ...kind, withTypes: (use) => use(kind) }
}

/** Member of a bundle as the result of a job stores it: without its CRC-32. */
export type BundleMemberSummary = Omit<Member, "crc32">
