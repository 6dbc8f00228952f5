import { env } from "cloudflare:workers"
import { describe, expect, it } from "vitest"
import { newId } from "../../src/platform/ids.ts"
import { purgeDeletedAccounts } from "../../src/upkeep/purge.ts"
import { repairAccountCopies } from "../../src/upkeep/sweep.ts"
import { readServiceState } from "../../src/upkeep/service-state.ts"
import { sweepDirectly } from "../support/sweep.ts"
import { openDatabaseByNumber, openAccountDatabases, openDirectory } from "../../src/db/database.ts"
import { findAssignedPlan } from "../../src/db/jobs/tasks.ts"
import { fetchWorker, fetchOperatorRoute, uploadTestFile } from "../support/caller.ts"
import { GOLD_PLAN_LIMITS } from "../support/accounts/own-plan.ts"
import {
  queryEachDatabase,
  findDatabasesWithRows,
  makeCallerInDatabase,
  makeCallerInAnyDatabase,
} from "../support/db/spread.ts"
import type { CallerInDatabase } from "../support/db/spread.ts"
import { endOnlyTask } from "../support/tasks.ts"

const DAY_MS = 24 * 3_600_000
const COMMAND = {
  ffmpeg_command: "ffmpeg -f lavfi -i testsrc -t 1 {{out_1}}",
  input_files: {},
  output_files: { out_1: "out.mp4" },
}

async function createCommand({ caller }: CallerInDatabase): Promise<string> {
  const answer = await caller.post("/commands", COMMAND)
  expect(answer.status).toBe(202)
  return (await answer.json<{ command_id: string }>()).command_id
}

describe("accounts over four databases", () => {
  it("start in all databases but the directory's, each with a copy of its row", async () => {
    const made: CallerInDatabase[] = []
    while (made.length < 12 || new Set(made.map(({ database }) => database)).size < 3) {
      made.push(await makeCallerInAnyDatabase())
    }
    expect(new Set(made.map(({ database }) => database))).toEqual(new Set([2, 3, 4]))
    for (const each of made) {
      await createCommand(each)
      const { accountId, database } = each
      expect(await findDatabasesWithRows("accounts", accountId)).toEqual([
        ...new Set([1, database]),
      ])
      expect(await findDatabasesWithRows("jobs", accountId)).toEqual([database])
      expect(await findDatabasesWithRows("tasks", accountId)).toEqual([database])
      expect(await findDatabasesWithRows("keys", accountId)).toEqual([1])
    }
  })

  it("never see each other's jobs and files, in any databases", async () => {
    const [one, other, beside] = [
      await makeCallerInDatabase(2),
      await makeCallerInDatabase(3),
      await makeCallerInDatabase(2),
    ]
    const id = await createCommand(one)
    const file = await uploadTestFile(one.caller, "one.txt", "of one")
    expect((await one.caller.call(`/commands/${id}`)).status).toBe(200)
    for (const { caller } of [other, beside]) {
      expect((await caller.call(`/commands/${id}`)).status).toBe(404)
      expect((await caller.call(`/files/${file.id}`)).status).toBe(404)
      expect((await caller.call(`/jobs/${id}`, { method: "DELETE" })).status).toBe(404)
    }
    const listed = await (await other.caller.call("/files")).text()
    expect(listed).not.toContain(file.id)
  })

  it("have their files served by links and, once published, to everybody", async () => {
    const { caller, accountId } = await makeCallerInDatabase(4)
    const file = await uploadTestFile(caller, "open.txt", "0123")
    const link = await caller.call(new URL(file.download_url).pathname.replace("/v1", ""))
    expect(await (await fetchWorker(link.headers.get("location") ?? "")).text()).toBe("0123")
    const path = `/public/4/${file.id}/open.txt`
    expect((await fetchWorker(path)).status).toBe(404)
    expect((await caller.call(`/files/${file.id}/publish`, { method: "POST" })).status).toBe(200)
    expect(await (await fetchWorker(path)).text()).toBe("0123")
    const record = await (await caller.call(`/files/${file.id}`)).json<{ public_url: string }>()
    expect(new URL(record.public_url).pathname).toBe(path)
    for (const other of ["/0", "/1", "/3", "/5", "/99", "/4.0", ""]) {
      const wrong = await fetchWorker(`/public${other}/${file.id}/open.txt`)
      expect([other, wrong.status]).toEqual([other, 404])
    }
    await fetchOperatorRoute(`/accounts/${accountId}/suspend`, { method: "POST" })
    expect((await fetchWorker(path)).status).toBe(404)
  })

  it("end and count their jobs in their own databases, where the sweep removes old ones", async () => {
    const { caller, accountId, database } = await makeCallerInDatabase(3, "paid")
    const jobId = await createCommand({ caller, accountId, database, name: "" })
    const failure = { code: "command_failed" as const, message: "no" }
    await endOnlyTask(accountId, jobId, { failure })
    const { status } = await (await caller.call(`/commands/${jobId}`)).json<{ status: string }>()
    expect(status).toBe("failed")
    const usage = await (await caller.call("/account/usage")).text()
    expect(usage).toMatch(/"key_name":"".*"jobs":1,.*"failed_jobs":1,/)
    await sweepDirectly(env, Date.now() + 91 * DAY_MS)
    expect(await findDatabasesWithRows("jobs", accountId)).toEqual([])
  })

  it("are listed and counted together", async () => {
    const made = [
      await makeCallerInDatabase(2),
      await makeCallerInDatabase(3),
      await makeCallerInDatabase(4),
    ]
    const before = (await readServiceState(env)).storage
    for (const each of made) {
      await uploadTestFile(each.caller, "seven.txt", "1234567")
      await createCommand(each)
      const answer = await fetchOperatorRoute(`/accounts/${each.accountId}`)
      expect(await answer.json()).toMatchObject({ storage_bytes: 7, keys: 1 })
    }
    const { storage, jobs, databaseBytes } = await readServiceState(env)
    expect(storage.bytes - before.bytes).toBe(21)
    expect(storage.accounts - before.accounts).toBe(3)
    const names = jobs.map(({ name, state }) => `${name} ${state}`)
    expect(names).toContain("command waiting")
    expect(new Set(names).size).toBe(names.length)
    expect(databaseBytes).toBeGreaterThan(0)
  })

  it("leave no row in any database a day after their deletion", async () => {
    const { caller, accountId } = await makeCallerInDatabase(2)
    await uploadTestFile(caller, "gone.txt", "gone")
    await createCommand({ caller, accountId, database: 2, name: "" })
    expect((await fetchOperatorRoute(`/accounts/${accountId}`, { method: "DELETE" })).status).toBe(
      200,
    )
    for (const at of [0, DAY_MS, DAY_MS + 3_600_000]) {
      await purgeDeletedAccounts(env, openDirectory(env), Date.now() + at)
    }
    for (const table of ["accounts", "keys", "jobs", "tasks", "files", "usage_days"]) {
      expect([table, await findDatabasesWithRows(table, accountId)]).toEqual([table, []])
    }
  })
})

describe("the directory's row of an account", () => {
  it("is copied by the sweep if a change died before the copy", async () => {
    const { accountId, caller } = await makeCallerInDatabase(3)
    const directory = openDirectory(env)
    await directory.run(`update accounts set plan = 'paid' where id = '${accountId}'`)
    expect((await findAssignedPlan(openAccountDatabases(env, accountId)))?.plan).toBe("trial")
    await repairAccountCopies(env)
    expect((await findAssignedPlan(openAccountDatabases(env, accountId)))?.plan).toBe("paid")
    // A new account without a copy takes no jobs until the copy exists.
    await openDatabaseByNumber(env, 3).run(`delete from accounts where id = '${accountId}'`)
    await directory.run(`update accounts set copied_version = 0 where id = '${accountId}'`)
    expect((await caller.post("/commands", COMMAND)).status).toBeGreaterThanOrEqual(400)
    await repairAccountCopies(env)
    expect((await caller.post("/commands", COMMAND)).status).toBe(202)
  })

  it("replaces a copy of a later version, for example after a restore from a backup", async () => {
    const { accountId } = await makeCallerInDatabase(2)
    await openDatabaseByNumber(env, 2).run(
      `update accounts set plan = 'of later', version = version + 5 where id = '${accountId}'`,
    )
    await openDirectory(env).run(`update accounts set plan = 'paid' where id = '${accountId}'`)
    await repairAccountCopies(env)
    expect((await findAssignedPlan(openAccountDatabases(env, accountId)))?.plan).toBe("paid")
    const [row] = await openDirectory(env).all<{ left: number }>(
      `select version - copied_version as left from accounts where id = '${accountId}'`,
    )
    expect(row).toEqual({ left: 0 })
  })

  it("is copied even if another account in the same database had the name before", async () => {
    const [one, other] = [await makeCallerInDatabase(4), await makeCallerInDatabase(4)]
    const directory = openDirectory(env)
    const [before, after] = [`name of one ${newId()}`, `name of one now ${newId()}`]
    await directory.run(`update accounts set name = '${before}' where id = '${one.accountId}'`)
    await repairAccountCopies(env)
    await directory.run(`update accounts set name = '${after}' where id = '${one.accountId}'`)
    await directory.run(`update accounts set name = '${before}' where id = '${other.accountId}'`)
    await repairAccountCopies(env)
    const names = await openDatabaseByNumber(env, 4).all<{ id: string; name: string }>(
      `select id, name from accounts where id in ('${one.accountId}', '${other.accountId}')`,
    )
    expect(new Map(names.map(({ id, name }) => [id, name]))).toEqual(
      new Map([
        [one.accountId, after],
        [other.accountId, before],
      ]),
    )
  })

  it("limits runs by the operator's own plan in every database, from its change on", async () => {
    const name = `own-${crypto.randomUUID().slice(0, 8)}`
    const made = await fetchOperatorRoute(`/plans/${name}`, {
      method: "PUT",
      body: JSON.stringify(GOLD_PLAN_LIMITS),
    })
    expect(made.status).toBe(201)
    const { accountId, name: account } = await makeCallerInDatabase(2)
    const body = JSON.stringify({ account, plan: name })
    expect((await fetchOperatorRoute("/plans", { method: "PUT", body })).status).toBe(200)
    const plan = await findAssignedPlan(openAccountDatabases(env, accountId))
    expect(plan).toMatchObject({ plan: name, ownLimits: { runSecondsMax: 60 } })
    const each = await queryEachDatabase(`select 1 from plans where name = '${name}'`)
    expect(each).toEqual([[{ 1: 1 }], [{ 1: 1 }], [{ 1: 1 }], [{ 1: 1 }]])
  })
})
