import { expect, it } from "vitest"
import { newId } from "../../src/ids.ts"
import { listAccountKeys } from "../../src/storage/account-keys.ts"
import { databaseOf, databasesOf } from "../../src/storage/database.ts"
import type { AccountDatabases, Database } from "../../src/storage/database.ts"
import { removeFetchedMedia } from "../../src/storage/fetched-media.ts"
import { noteJobs } from "../../src/storage/jobs.ts"
import { listDeadLetters } from "../../src/storage/dead-letters.ts"
import { listKeys } from "../../src/storage/keys.ts"
import { listUsage } from "../../src/storage/usage.ts"
import { findLookup, listOldLookups } from "../../src/storage/metadata-lookups.ts"
import { deleteLeftSecrets } from "../../src/storage/task-secrets.ts"
import { plansOf, watchedEnv } from "../support/watched-database.ts"

const PAGE = { limit: 20, offset: 0 }
const MEDIA = { before: Date.now(), now: Date.now(), limit: 10 }

type Ask = (own: AccountDatabases, all: Database) => Promise<unknown>

const ASKED: [string, string, Ask][] = [
  [
    "accepted jobs",
    "sqlite_autoindex_jobs_1",
    (own) => noteJobs(own, { accepted: [newId()], taken: [], now: 0 }),
  ],
  ["a lookup", "sqlite_autoindex_metadata_lookups_1", (own) => findLookup(own, "hash")],
  [
    "lookups of some minutes ago",
    "metadata_lookups_by_age",
    (_, all) => listOldLookups(all, Date.now(), 10),
  ],
  ["what was fetched long ago", "files_fetched", (_, all) => removeFetchedMedia(all, MEDIA)],
  ["secrets that were left", "task_secrets_of_job", (_, all) => deleteLeftSecrets(all, 10)],
  ["the list of keys", "keys_of_account", (own) => listAccountKeys(own, PAGE)],
  [
    "the list of keys of all accounts",
    "sqlite_autoindex_keys_1",
    (_, all) => listKeys(all, { limit: 10, before: newId() }),
  ],
  [
    "what an account used",
    "sqlite_autoindex_usage_days_1",
    (own) => listUsage(own, { since: "2026-01-01", limit: 10 }),
  ],
  [
    "the list of dead letters",
    "dead_letters_by_age",
    (_, all) => listDeadLetters(all, { offset: 0, limit: 10 }),
  ],
]

it.each(ASKED)("%s is found by the index %s, without sorting", async (_, index, ask) => {
  const { watched, asked } = watchedEnv()
  const [all] = databasesOf(watched)
  if (!all) throw new Error("there is no database")
  await ask(databaseOf(watched, newId()), all)
  const [plan] = await plansOf(asked)
  expect(plan?.steps.join("\n")).toMatch(new RegExp(`INDEX ${index}( |$)`, "m"))
  expect(plan?.steps.join("\n")).not.toContain("TEMP B-TREE")
})
