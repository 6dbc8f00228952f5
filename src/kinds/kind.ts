import type { z } from "zod"
import type { BundleMember } from "../contract/bundle.ts"
import type { Failure } from "../contract/failure.ts"
import type { SpeechModels } from "../contract/speech-models.ts"
import type { TaskResult } from "../contract/task.ts"
import type { TaskDefinition } from "../contract/tasks/definition.ts"
import type { Fault } from "../domain/faults.ts"
import type { RetentionSettings } from "../domain/retention.ts"
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

/** Finished task with its result. The definition of the task's kind has validated the result. */
export type FinishedTask = { task: Task; result: TaskResult }

/**
 * Finished tasks of a job, except imports and probes. `files` are all files that the job creates.
 */
export type FinishedTasks = { job: Job; files: File[]; tasks: FinishedTask[] }

/**
 * Changes that finished tasks cause: new column values of the job's files, and the job's result.
 */
export type FileColumnsAndJobResult = {
  files: { id: string; set: Partial<File> }[]
  /** Files that are not stored, each with the id (`sameAs`) of a file with the same content. */
  sameFiles?: { id: string; sameAs: string }[]
  /** Result of the job so far. The result is final after the last task has finished. */
  result: JobResult
}

/**
 * Kind of job: the Worker's code for one kind of work, as pure functions. The pipeline, the routes
 * and the webhooks use only this interface and never the name of a kind.
 */
export type Kind<RecordSchema extends z.ZodType<object> = z.ZodType<object>> = {
  /** Value of `kind` in the kind's jobs, and first part of their webhook event types. */
  name: string
  /** Path of the kind's jobs below /v1, without a leading slash. */
  path: string
  /** Noun for a job of the kind, as messages show it. */
  title: string
  /** Whether jobs of the kind are internal, so that no list contains them. */
  isUnlisted?: boolean
  /** Definitions of the tasks that jobs of the kind can have. */
  tasks: readonly TaskDefinition[]
  /** Returns the name of the request field for the input with this key. */
  inputField: (key: string) => string
  /**
   * Converts the results of finished tasks to changes of the job. `finish` is called after each
   * finished task, with all finished tasks so far, except imports and probes. The code that all
   * kinds share applies the results of these two.
   */
  finish(done: FinishedTasks): FileColumnsAndJobResult
  /**
   * Schema of the kind's records, such as a transcription: the response of `GET /v1/<kind>/{id}`,
   * and `data` of the kind's webhooks.
   */
  record: RecordSchema
  view(
    base: string,
    snapshot: Pick<JobSnapshot, "job" | "files">,
    progress: Progress | null,
    retention: RetentionSettings,
  ): z.infer<RecordSchema>
  /**
   * Returns the output name that `svc_id://<job>/<name>` uses for an output key. Without this
   * function, the name is the key.
   */
  outputName?(key: string): string
  /**
   * Returns the URL of an output that is no file of the account; null for a file of the account.
   */
  outputUrl?(base: string, jobId: string, output: { key: string; name: string }): string | null
  /**
   * Returns the failure of a job whose task failed. Without this function, the job gets the failure
   * of its task.
   */
  explainFailure?(failure: Failure, failed: Task, tasks: readonly Task[]): Failure
  /**
   * Returns the reason why a job with this request cannot be retried; null if a retry is possible.
   */
  refuseRetry?(request: unknown): string | null
  /**
   * Returns the stored request for a retry of the job. `newIds` maps the ids of Files that the
   * retry imports again to their new ids.
   */
  retryRequest?(request: unknown, newIds: ReadonlyMap<string, string>): unknown
}

/**
 * Input that a request names: its key, the name of its request field, and the value of that field.
 */
export type InputReference = { key: string; field: string; reference: InputValue }

/**
 * Source of an input whose file is created together with the job: a URL to import, or an uploaded
 * body.
 */
export type InputSource = ImportUrl | StoredUpload

/**
 * Input of a request after its file was looked up. `file` is null if the account has no such file,
 * or if the job creates the file from `source`.
 */
export type ResolvedInput = {
  key: string
  field: string
  fileId: string
  file: File | null
  source?: InputSource
  /** Whether the job that writes the input (same batch) has faults, so its outputs are unknown. */
  isUnknown?: boolean
}

/** Properties of the deployment on which the validation of requests depends. */
export type DeploymentProperties = { speechModels: SpeechModels }

/** Properties of the deployment that `judge` needs to check a request. */
export type ValidationContext = DeploymentProperties & {
  /** Capabilities of the ffmpeg build that runs commands; null if they are unknown. */
  ffmpeg: FfmpegCapabilities | null
}

/** Data that `plan` needs, in addition to the request, to draft the database rows of a job. */
export type DraftContext = JobProperties &
  DeploymentProperties & {
    inputs: ResolvedInput[]
    /**
     * Limits of the account's plan when the request arrives: run time of tools in seconds, and file
     * size in bytes. The dispatch of a task applies the plan's current limits (`limitRun`,
     * `src/scheduler/dispatch-task.ts`).
     */
    runSecondsMax: number
    fileBytesMax: number
  }

/** Fields that every job request has; only the Job form (common Job record) has `webhook_url`. */
export type CommonRequestFields = {
  webhook?: string | null | undefined
  webhook_url?: string | null | undefined
  metadata?: { [name: string]: string } | null | undefined
  priority?: number | undefined
  expires_in?: number | null | undefined
  publish?: boolean | undefined
}

/**
 * Kind whose requests are JSON and whose routes are generated. `Usable` is the type of the valid
 * fields of an invalid body.
 */
export type JsonKind<
  Input extends CommonRequestFields = CommonRequestFields,
  Usable = unknown,
  RecordSchema extends z.ZodType<object> = z.ZodType<object>,
> = Kind<RecordSchema> & {
  /** Name of the field for the job's id in the response to the POST. */
  idField: string
  /**
   * Whether all requests of the kind have the Job form. The POST then returns the common Job
   * record, every fault of the body is a 400, and GET /jobs returns the jobs.
   */
  isJobForm?: boolean
  /** Whether the response to the POST has the fields of the kind's record and of the Job record. */
  respondsWithJob?: boolean
  request: z.ZodType<Input>
  /** Whether the record contains the request. Lists omit long requests. */
  showsRequest?: boolean
  /**
   * Request field that the part `file` of a multipart body can replace. The service stores the
   * uploaded file and sets this field to the id of the File.
   */
  uploadField?: string
  /**
   * Valid example request for the documentation. Tests replace EXAMPLE_INPUT_REFERENCE by the id of
   * a File.
   */
  example: unknown
  /**
   * Returns the valid fields of a request body with invalid fields, so that a single response
   * reports all faults.
   */
  readUsableFields(body: object): Usable
  /**
   * Request fields whose presence selects the Job form. Every fault of a body with such a field is
   * then a 400.
   */
  jobFormFields?: readonly string[]
  references(request: Usable): InputReference[]
  /** Returns the URLs that the job will fetch, with the names of their request fields. */
  urls?(request: Usable): { field: string; url: InputValue }[]
  /**
   * Returns the webhook URLs of a request, with the names of their fields. Defined only for kinds
   * that also accept these fields in a nested object.
   */
  webhooks?(request: Usable): { field: string; url: string }[]
  /**
   * Returns the fields that every job request has. Defined only for kinds that also accept these
   * fields in a nested object.
   */
  createFields?(request: Input): CommonRequestFields
  /**
   * Returns the faults of a request that neither its schema nor the lookup of inputs can find.
   * `malformed` has the names of fields that do not match the schema.
   */
  judge(
    request: Usable,
    inputs: ResolvedInput[],
    malformed: ReadonlySet<string>,
    deployment: ValidationContext,
  ): Fault[]
  /** Response of the route that validates a request. A kind without `preview` has no such route. */
  preview?: {
    schema: z.ZodObject
    show: (request: Usable, inputs: ResolvedInput[], deployment: ValidationContext) => object
  }
  /** Drafts the database rows of the job, its tasks and its files. The request has no faults. */
  plan(request: Input, context: DraftContext): JobDraft
}

/** JSON kind without type parameters, so that one list can hold kinds of different types. */
export type AnyJsonKind = Kind & {
  /** Calls the function `use` with the kind in its full type, including the type parameters. */
  withTypes<Value>(
    use: <Input extends CommonRequestFields, Usable, RecordSchema extends z.ZodObject>(
      kind: JsonKind<Input, Usable, RecordSchema>,
    ) => Value,
  ): Value
}

/**
 * Defines a JSON kind. Checks the types of the kind, then hides the type parameters from the
 * registry.
 */
export function defineJsonKind<
  Input extends CommonRequestFields,
  Usable,
  RecordSchema extends z.ZodObject,
  Specified extends JsonKind<Input, Usable, RecordSchema>,
>(kind: Specified & JsonKind<Input, Usable, RecordSchema>): Specified & AnyJsonKind {
  return { ...kind, withTypes: (use) => use(kind) }
}

/** Member of a bundle in the result of a job, which omits the member's CRC-32. */
export type BundleMemberSummary = Omit<BundleMember, "crc32">
