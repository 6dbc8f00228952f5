import { expect, it } from "vitest"
import { newId } from "../../src/platform/ids.ts"
import { listApiKeysOfAccount } from "../../src/db/accounts/account-keys.ts"
import { openAccountDatabases, openAllDatabases } from "../../src/db/database.ts"
import type { AccountDatabases, Database } from "../../src/db/database.ts"
import { removeFetchedMedia } from "../../src/db/files/fetched-media.ts"
import { storeAcceptedAndStartedJobs } from "../../src/db/jobs/jobs.ts"
import { listDeadLetters } from "../../src/db/dead-letters.ts"
import { listApiKeysOfAllAccounts } from "../../src/db/accounts/keys.ts"
import { listDailyUsage } from "../../src/db/accounts/usage.ts"
import { findMetadataLookup, listOldMetadataLookups } from "../../src/db/jobs/metadata-lookups.ts"
import { deleteLeftoverTaskSecrets } from "../../src/db/jobs/task-secrets.ts"
import { explainStatements, makeRecordingEnv } from "../support/db/watched-database.ts"

const PAGE = { limit: 20, offset: 0 }
const MEDIA = { before: Date.now(), now: Date.now(), limit: 10 }

type Ask = (own: AccountDatabases, all: Database) => Promise<unknown>

const ASKED: [string, string, Ask][] = [
  [
    "accepted jobs",
    "sqlite_autoindex_jobs_1",
    (own) => storeAcceptedAndStartedJobs(own, { accepted: [newId()], taken: [], now: 0 }),
  ],
  ["a lookup", "sqlite_autoindex_metadata_lookups_1", (own) => findMetadataLookup(own, "hash")],
  [
    "lookups of some minutes ago",
    "metadata_lookups_by_age",
    (_, all) => listOldMetadataLookups(all, Date.now(), 10),
  ],
  ["what was fetched long ago", "files_fetched", (_, all) => removeFetchedMedia(all, MEDIA)],
  ["secrets that were left", "task_secrets_of_job", (_, all) => deleteLeftoverTaskSecrets(all, 10)],
  ["the list of keys", "keys_of_account", (own) => listApiKeysOfAccount(own, PAGE)],
  [
    "the list of keys of all accounts",
    "sqlite_autoindex_keys_1",
    (_, all) => listApiKeysOfAllAccounts(all, { limit: 10, before: newId() }),
  ],
  [
    "what an account used",
    "sqlite_autoindex_usage_days_1",
    (own) => listDailyUsage(own, { since: "2026-01-01", limit: 10 }),
  ],
  [
    "the list of dead letters",
    "dead_letters_by_age",
    (_, all) => listDeadLetters(all, { offset: 0, limit: 10 }),
  ],
]

it.each(ASKED)("%s is found by the index %s, without sorting", async (_, index, ask) => {
  const { watched, asked } = makeRecordingEnv()
  const [all] = openAllDatabases(watched)
  if (!all) throw new Error("there is no database")
  await ask(openAccountDatabases(watched, newId()), all)
  const [plan] = await explainStatements(asked)
  expect(plan?.steps.join("\n")).toMatch(new RegExp(`INDEX ${index}( |$)`, "m"))
  expect(plan?.steps.join("\n")).not.toContain("TEMP B-TREE")
})
