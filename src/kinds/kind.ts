import type { z } from "zod"
import type { Member } from "../contract/bundle.ts"
import type { Failure } from "../contract/failure.ts"
import type { SpeechModels } from "../contract/speech-models.ts"
import type { TaskResult } from "../contract/task.ts"
import type { TaskDefinition } from "../contract/tasks/definition.ts"
import type { Fault } from "../faults.ts"
import type { Retention } from "../retention.ts"
import type { Progress } from "../rpc.ts"
import type { JobDraft, JobFacts } from "../storage/job-drafts.ts"
import type { File } from "../storage/schema/files.ts"
import type { Job, JobResult } from "../storage/schema/jobs.ts"
import type { Task } from "../storage/schema/tasks.ts"
import type { JobSnapshot } from "../storage/transitions.ts"
import type { Known } from "./command/facts/known.ts"
import type { InputSource } from "./sources.ts"

/** What a task stored and reported, parsed by the definition of its kind. */
export type FinishedTask = { task: Task; result: TaskResult }

/** The tasks of a job's kind that are done; `files` are all of the job's. */
export type DoneTasks = { job: Job; files: File[]; tasks: FinishedTask[] }

/** What a finished task means for its job; facts of files that are in `files` only. */
export type Finish = {
  files: { id: string; set: Partial<File> }[]
  /** The result of the job; it counts once the last task is done. */
  result: JobResult
}

/**
 * A kind of job: what the Worker knows of one kind of work. All of it is pure; the pipeline, the
 * routes and the webhooks know no kind by name.
 */
export type Kind<RecordSchema extends z.ZodType<object> = z.ZodType<object>> = {
  /** The value of `kind` in jobs, and the first part of its webhooks' types. */
  name: string
  /** Its collection below /v1, without a slash. */
  path: string
  /** What a sentence calls one of it. */
  title: string
  /** Whether its jobs are the service's own, and shown to nobody. */
  isUnlisted?: boolean
  /** The kinds of task that its jobs consist of. */
  tasks: readonly TaskDefinition[]
  /** The field of the request that names the input of this key. */
  inputField: (key: string) => string
  /**
   * Called with all tasks that are done whenever one is; not with those that bring in inputs and probe
   * them, which mean the same to every kind, and whose Files are as these tasks made them.
   */
  finish(done: DoneTasks): Finish
  /** The record that GET answers and webhooks carry. */
  record: RecordSchema
  view(
    base: string,
    snapshot: Pick<JobSnapshot, "job" | "files">,
    progress: Progress | null,
    retention: Retention,
  ): z.infer<RecordSchema>
  /** The address of an output, where that is no File's; null where it is. */
  outputUrl?(base: string, jobId: string, output: { key: string; name: string }): string | null
  /** What a job of several tasks says of the failure of one; where left out, what the task said. */
  explainFailure?(failure: Failure, failed: Task, tasks: readonly Task[]): Failure
  /** Why a job of this request cannot be done again; null where it can. */
  refuseRetry?(request: unknown): string | null
  /** The kept request of a job that is done again, where it names Files that come anew, by their ids. */
  requestAgain?(request: unknown, newIds: ReadonlyMap<string, string>): unknown
}

/** An input that a request names: its key, the field it stands in, and how it is named. */
export type InputReference = { key: string; field: string; reference: string }

/**
 * An input of a request that is a file; `file` is null where the account has none such, and where it
 * comes with the job, from `source`.
 */
export type FoundInput = {
  key: string
  field: string
  fileId: string
  file: File | null
  source?: InputSource
}

/** What its operator gave a deployment that requests may name. */
export type DeploymentFacts = { speechModels: SpeechModels }

/** What requests are judged by beside what they say. */
export type JudgeFacts = DeploymentFacts & {
  /** What the ffmpeg that runs commands knows; null where that is not known. */
  ffmpeg: Known | null
}

/** What a plan is made from beside the request. */
export type PlanFacts = JobFacts &
  DeploymentFacts & {
    inputs: FoundInput[]
    runSecondsMax: number
    fileBytesMax: number
  }

/** Fields that every create has; the Job form says `webhook_url` for `webhook`. */
export type CreateRequest = {
  webhook?: string | null | undefined
  webhook_url?: string | null | undefined
  metadata?: { [name: string]: string } | null | undefined
  priority?: number | undefined
  expires_in?: number | null | undefined
}

/** A kind whose create takes a JSON body; one maker gives it all its routes. */
export type JsonKind<
  Input extends CreateRequest = CreateRequest,
  Usable = unknown,
  RecordSchema extends z.ZodType<object> = z.ZodType<object>,
> = Kind<RecordSchema> & {
  /** The field of the answer to a create that names the job. */
  idField: string
  /**
   * Whether there is the Job form alone: a create answers with the Job, all that is wrong with it is a
   * 400, and its jobs are read by GET /jobs.
   */
  isJobForm?: boolean
  /** Whether the answer to a create is the Job too, for callers who know that form alone. */
  answersJob?: boolean
  request: z.ZodType<Input>
  /** Whether its record shows the request itself, which lists then leave out where it is long. */
  showsRequest?: boolean
  /**
   * The field of the request in whose place a create may have the part `file` of a multipart body:
   * the bytes of a file, which is stored and then stands there by its id.
   */
  uploadField?: string
  /** A request that works, for the documentation; tests send it, with a file as EXAMPLE_INPUT. */
  example: unknown
  /** What can be used of a body that does not fit the schema, so that all its faults are told at once. */
  readUsable(body: object): Usable
  /** Fields that only the Job form of its request has: whatever is wrong with a body that has one is a 400. */
  jobFormFields?: readonly string[]
  references(request: Usable): InputReference[]
  /** The URLs that the request asks to fetch, by field. */
  urls?(request: Usable): { field: string; url: string }[]
  /** The URLs to call at the end of the job, by field, of a request that has some deeper in it too. */
  webhooks?(request: Usable): { field: string; url: string }[]
  /** The fields that every create has, of a request that may have them deeper in it too. */
  createFields?(request: Input): CreateRequest
  /**
   * What is wrong with a request beyond its schema, and beyond inputs that are no single file;
   * `malformed` are fields that do not fit the schema.
   */
  judge(
    request: Usable,
    inputs: FoundInput[],
    malformed: ReadonlySet<string>,
    deployment: JudgeFacts,
  ): Fault[]
  /** What validation shows of a request beside its faults; a kind without it has no validation. */
  preview?: {
    schema: z.ZodObject
    show: (request: Usable, inputs: FoundInput[], deployment: JudgeFacts) => object
  }
  /** The job, its tasks and the files to come of a request without faults. */
  plan(request: Input, facts: PlanFacts): JobDraft
}

/** A kind whose create takes a JSON body, where its own types do not matter. */
export type AnyJsonKind = Kind & {
  /** Calls a function with the kind as its own types have it. */
  withTypes<Value>(
    use: <Input extends CreateRequest, Usable, RecordSchema extends z.ZodObject>(
      kind: JsonKind<Input, Usable, RecordSchema>,
    ) => Value,
  ): Value
}

/** Makes a kind that a registry can list beside others. */
export function jsonKind<
  Input extends CreateRequest,
  Usable,
  RecordSchema extends z.ZodObject,
  Specified extends JsonKind<Input, Usable, RecordSchema>,
>(kind: Specified & JsonKind<Input, Usable, RecordSchema>): Specified & AnyJsonKind {
  return { ...kind, withTypes: (use) => use(kind) }
}

/** A member of a bundle as results keep it. */
export type ListedMember = Omit<Member, "crc32">
