import { expect, it } from "vitest"
import { newId } from "../../src/platform/ids.ts"
import { openAccountDatabases } from "../../src/db/database.ts"
import type { AccountDatabase } from "../../src/db/database.ts"
import { findBatch, listBatches } from "../../src/db/batches.ts"
import { findInputRows, measureLongestJobChain } from "../../src/db/files/input-files.ts"
import { findFile, findJobWithFiles } from "../../src/db/files/files.ts"
import { listGarbagePrefixesWithoutReaders } from "../../src/db/files/garbage.ts"
import { listAccountsWithOpenJobs } from "../../src/db/jobs/jobs.ts"
import { listDependents } from "../../src/db/jobs/dependents.ts"
import {
  findLastInputCompletedAt,
  listUnreadableInputs,
  listOpenTasksAndReaders,
  listOpenTaskIds,
  listOpenTasks,
  listTasksReadingFiles,
  sumTaskWeightsByJob,
} from "../../src/db/jobs/open-tasks.ts"
import { readJobSnapshot } from "../../src/db/jobs/apply-transition.ts"
import {
  explainStatements,
  TABLE_SCAN_STEP,
  makeRecordingEnv,
} from "../support/db/watched-database.ts"

const ASKED: [string, string, (own: AccountDatabase) => Promise<unknown>][] = [
  ["a File", "sqlite_autoindex_files_1", (own) => findFile(own, newId())],
  [
    "Files and outputs that inputs name",
    "sqlite_autoindex_files_1",
    (own) => findInputRows(own, { fileIds: [newId()], jobIds: [newId()] }),
  ],
  [
    "outputs of jobs that inputs name",
    "files_of_job",
    (own) => findInputRows(own, { fileIds: [newId()], jobIds: [newId()] }),
  ],
  [
    "the longest chain of jobs",
    "sqlite_autoindex_job_dependencies_1",
    (own) => measureLongestJobChain(own, [newId()]),
  ],
  ["the jobs of a batch", "jobs_of_batch", (own) => findBatch(own, newId())],
  ["batches", "batches_listed", (own) => listBatches(own, { limit: 10, offset: 0 })],
  ["the arrival of inputs", "tasks_of_job", (own) => findLastInputCompletedAt(own, newId())],
  [
    "jobs behind a job",
    "job_dependencies_of_needed",
    (own) => listDependents(own, newId(), { states: ["waiting"], limit: 10 }),
  ],
  ["an output of a job", "files_of_job", (own) => findJobWithFiles(own, newId(), "a.srt")],
  [
    "garbage that no task reads",
    "task_inputs_of_file",
    (own) => listGarbagePrefixesWithoutReaders(own.sql, ["a/", "b/"]),
  ],
  ["the inputs of a job", "sqlite_autoindex_task_inputs_1", (own) => readJobSnapshot(own, newId())],
  ["open tasks", "tasks_open", (own) => listOpenTaskIds(own, { after: "", limit: 10 })],
  [
    "what open tasks wait for",
    "sqlite_autoindex_task_inputs_1",
    (own) => listOpenTasks(own, [newId()]),
  ],
  [
    "tasks that wait for what others make",
    "task_inputs_of_file",
    (own) => listOpenTasksAndReaders(own, { ids: [newId()], jobIds: [newId()] }),
  ],
  [
    "tasks that wait for files",
    "task_inputs_of_file",
    (own) => listTasksReadingFiles(own, [newId()]),
  ],
  [
    "inputs that are lost",
    "sqlite_autoindex_task_inputs_1",
    (own) => listUnreadableInputs(own, newId()),
  ],
  ["the weight of jobs", "tasks_of_job", (own) => sumTaskWeightsByJob(own, [newId()])],
  [
    "accounts with open jobs",
    "jobs_open",
    (own) => listAccountsWithOpenJobs(own.sql, { after: "", limit: 10 }),
  ],
]

it.each(ASKED)("%s is found by the index %s, without sorting or a scan", async (_, index, ask) => {
  const { watched, asked } = makeRecordingEnv()
  await ask(openAccountDatabases(watched, newId()))
  const steps = (await explainStatements(asked)).flatMap((plan) => plan.steps)
  expect(steps.join("\n")).toContain(`INDEX ${index} `)
  expect(steps.join("\n")).not.toContain("TEMP B-TREE")
  expect(steps.filter((step) => TABLE_SCAN_STEP.test(step))).toEqual([])
})
