import { expect, it } from "vitest"
import { newId } from "../../src/ids.ts"
import { databaseOf } from "../../src/storage/database.ts"
import type { AccountDatabase } from "../../src/storage/database.ts"
import { findFile, findFiles, listFiles } from "../../src/storage/files.ts"
import { listOpenTasks } from "../../src/storage/tasks.ts"
import { readSnapshot } from "../../src/storage/transitions.ts"
import { plansOf, watchedEnv } from "../support/watched-database.ts"

const PAGE = { limit: 20, offset: 0 }

const ASKED: [string, string, (own: AccountDatabase) => Promise<unknown>][] = [
  ["the list of Files", "files_listed", (own) => listFiles(own, {}, PAGE)],
  [
    "the list of imports that failed",
    "files_listed",
    (own) => listFiles(own, { source: "import", states: ["failed", "canceled"] }, PAGE),
  ],
  ["a File", "files_listed", (own) => findFile(own, newId())],
  ["Files that inputs name", "files_listed", (own) => findFiles(own, [newId()])],
  ["the inputs of a job", "sqlite_autoindex_task_inputs_1", (own) => readSnapshot(own, newId())],
  ["open tasks", "tasks_open", (own) => listOpenTasks(own)],
  ["the weight of their jobs", "tasks_of_job", (own) => listOpenTasks(own)],
]

it.each(ASKED)("%s is found by the index %s, without sorting or a scan", async (_, index, ask) => {
  const { watched, asked } = watchedEnv()
  await ask(databaseOf(watched, newId()))
  const steps = (await plansOf(asked)).flatMap((plan) => plan.steps)
  expect(steps.join("\n")).toContain(`INDEX ${index} `)
  expect(steps.join("\n")).not.toContain("TEMP B-TREE")
  expect(steps.filter((step) => step.startsWith("SCAN") && !step.includes("json_each"))).toEqual([])
})
