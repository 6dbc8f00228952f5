import { basename, join } from "node:path"
import { CliError } from "../../cli/cli-error.ts"
import { formatTable } from "../../cli/table.ts"
import { downloadToFile, streamRecordChanges, postDemoJson } from "../api.ts"
import type { DemoApi } from "../api.ts"
import { CURL_API_KEY_ARGUMENTS, makeCurlFileArguments } from "../curl.ts"
import type { Demo, DemoContext } from "../demo.ts"
import { findMainStreams } from "../media-facts.ts"
import { copyDemoResult } from "../paths.ts"
import { uploadFile } from "../upload.ts"
import { BatchProgress } from "./progress.ts"
import { lectureRecordSchema } from "./record.ts"
import type { LectureJob, LectureRecord } from "./record.ts"
import { makeLectureRequest } from "./request.ts"

/** Prefix of the names of the files that the demonstration saves. */
const RESULT = "lathe-demo"
const HEADINGS = ["JOB", "AFTER", "WAIT", "START", "END", "SECONDS", "OUTPUT", "SIZE", "FILE"]

/**
 * Demonstration that processes a film with speech by a batch of jobs, some of which read outputs of
 * other jobs, and prints the times and the files of each job.
 */
export const lectureDemo: Demo = {
  name: "lecture",
  usage: "npm run demo -- lecture [FILE]",
  clip: join(import.meta.dirname, "clip.mp4"),
  show: showLecture,
}

async function showLecture(stage: DemoContext): Promise<void> {
  const { api, paths } = stage
  const { source, shownSource } = paths
  console.log(`Upload    ${shownSource}`)
  const { id, ffprobe } = await uploadFile(api, source)
  const { video = null, audio = null } = ffprobe ? findMainStreams(ffprobe) : {}
  if (!video || !audio) {
    const missing = video ? "audio" : "video"
    throw new CliError(`${shownSource} has no ${missing}: a lecture is a film with speech.`)
  }
  const request = makeLectureRequest(id)
  console.log(curlLines(request, shownSource))
  const ended = await runBatch(api, request)
  const saved = await saveOutputs(stage, ended)
  console.log(`\n${lectureTable(ended, saved)}\n\nThe files are in ${paths.folder}`)
  requireSuccess(ended)
}

/** Returns shell commands with curl that send the requests of the demonstration. */
function curlLines(request: object, source: string): string {
  const json = '-H "Content-Type: application/json"'
  return `\n  curl -s ${CURL_API_KEY_ARGUMENTS} ${makeCurlFileArguments(source)} $API/files
  curl -s ${CURL_API_KEY_ARGUMENTS} ${json} $API/batches -d '${JSON.stringify(request, null, 2)}'
  curl -sN ${CURL_API_KEY_ARGUMENTS} $API/batches/<id>/events\n`
}

/** Creates a batch and shows its progress. Returns the record of the batch after its last job. */
async function runBatch(api: DemoApi, request: object): Promise<LectureRecord> {
  const { id } = lectureRecordSchema.parse(await postDemoJson(api, "/batches", request))
  const progress = new BatchProgress(process.stdout)
  for await (const record of streamRecordChanges(api, `/batches/${id}`, lectureRecordSchema)) {
    progress.show(record)
    if (record.status === "running") continue
    progress.end()
    return record
  }
  throw new CliError("The events of the batch ended before the batch.")
}

/**
 * Names of the saved files. The map's keys are `<job>/<output>`: a job's name in the batch and an
 * output's key.
 */
type SavedFiles = ReadonlyMap<string, string>

async function saveOutputs(
  { api, paths, folder }: DemoContext,
  { jobs }: LectureRecord,
): Promise<SavedFiles> {
  const saved = new Map<string, string>()
  for (const [name, { outputs }] of Object.entries(jobs)) {
    for (const [key, output] of Object.entries(outputs)) {
      const fetched = join(folder, `${RESULT}-${name}-${basename(output.name)}`)
      await downloadToFile(api, output.url, fetched)
      saved.set(`${name}/${key}`, basename(copyDemoResult(fetched, paths)))
    }
  }
  return saved
}

/**
 * Formats a table of the jobs with their times since the creation of the batch, and a line for each
 * output.
 */
function lectureTable(record: LectureRecord, saved: SavedFiles): string {
  const jobs = Object.entries(record.jobs)
  return formatTable([
    HEADINGS,
    ...jobs.flatMap(([name, job]) => jobRows(record, name, job, saved)),
  ])
}

function jobRows(record: LectureRecord, name: string, job: LectureJob, saved: SavedFiles) {
  const times = [name, job.needs.join(", "), waitOf(record, job), ...timesOf(record, job)]
  const outputs = Object.entries(job.outputs).map(([key, { size_bytes }]) => {
    return [key, `${Math.ceil(size_bytes / 1000)} kB`, saved.get(`${name}/${key}`) ?? ""]
  })
  if (outputs.length === 0) outputs.push([job.error?.code ?? "none", "", ""])
  return outputs.map((cells, at) => [...(at === 0 ? times : times.map(() => "")), ...cells])
}

/**
 * Formats the wait of a job: the time from the end of the last job whose output it reads until its
 * own start.
 */
function waitOf({ jobs }: LectureRecord, { needs, started_at }: LectureJob): string {
  const ends = needs.flatMap((name) => jobs[name]?.completed_at ?? []).map((at) => Date.parse(at))
  if (ends.length === 0 || started_at === null) return ""
  return `${Math.max(0, Date.parse(started_at) - Math.max(...ends))} ms`
}

/**
 * Formats the start and the end of a job in seconds since the creation of the batch, and the job's
 * duration.
 */
function timesOf({ created_at }: LectureRecord, { started_at, completed_at }: LectureJob) {
  const ends: [string | null, string | null][] = [
    [created_at, started_at],
    [created_at, completed_at],
    [started_at, completed_at],
  ]
  return ends.map(([from, to]) => {
    return from === null || to === null
      ? "-"
      : ((Date.parse(to) - Date.parse(from)) / 1000).toFixed(2)
  })
}

/**
 * Throws a CliError if the batch failed. The message has the errors of all failed jobs, except jobs
 * that failed only because a job before them did.
 */
function requireSuccess({ status, jobs }: LectureRecord): void {
  if (status === "success") return
  const causes = Object.entries(jobs).filter(({ 1: { error } }) => {
    return error && error.code !== "input_failed"
  })
  const lines = causes.map(([name, { error }]) => `${name}: ${error?.message}`)
  throw new CliError(lines.join("\n") || "The batch ended without a result.")
}
