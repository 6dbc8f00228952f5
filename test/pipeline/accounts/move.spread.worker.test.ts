import { env } from "cloudflare:workers"
import { describe, expect, it } from "vitest"
import { newId } from "../../../src/ids.ts"
import { beginMove, giveUpMove, stepMove } from "../../../src/pipeline/accounts/move.ts"
import { sweep } from "../../../src/pipeline/upkeep/sweep.ts"
import { ACCOUNT_TABLES } from "../../../src/storage/account-rows.ts"
import { databaseOf, databasesOf, directoryOf } from "../../../src/storage/database.ts"
import { findJob, listAccountsWithOpenJobs } from "../../../src/storage/jobs.ts"
import { bindingOf, isMoving } from "../../../src/storage/places.ts"
import { countRows, fillTables, listTables } from "../../support/account-rows.ts"
import { ask, askOperator, upload } from "../../support/caller.ts"
import type { Caller } from "../../support/caller.ts"
import { makeCallerIn } from "../../support/spread.ts"
import { makeQueuedJob } from "../../support/queued-job.ts"

const COMMAND = {
  ffmpeg_command: "ffmpeg -f lavfi -i testsrc -t 1 {{out_1}}",
  input_files: {},
  output_files: { out_1: "out.mp4" },
}

/** Tables of the directory alone, and what is not of one account. */
const OTHERS = [
  "accounts",
  "account_moves",
  "account_storage",
  "credentials",
  "dead_letters",
  "invitations",
  "keys",
  "mail_counts",
  "plans",
  "sessions",
  "sign_in_limits",
  "sign_in_tries",
  "users",
  "verifications",
]

async function move(accountId: string, database: number): Promise<string | undefined> {
  expect(await beginMove(env, accountId, database)).toBeNull()
  return await goOn(accountId)
}

async function goOn(accountId: string): Promise<string | undefined> {
  for (;;) {
    const state = (await stepMove(env, accountId))?.state
    if (state === undefined || state === "moved" || state === "stayed") return state
    await scheduler.wait(50)
  }
}

async function rowsIn(accountId: string, database: number): Promise<Record<string, number>> {
  const rows = await countRows(accountId, bindingOf(env, database))
  return Object.fromEntries(Object.entries(rows).filter(([name]) => ACCOUNT_TABLES.includes(name)))
}

async function createCommand(caller: Caller): Promise<string> {
  const answer = await caller.post("/commands", COMMAND)
  expect(answer.status).toBe(202)
  return (await answer.json<{ command_id: string }>()).command_id
}

describe("the tables that go with an account", () => {
  it("are all that there are, but for the directory's", async () => {
    const names = [...(await listTables()).keys()]
    expect([...new Set(ACCOUNT_TABLES), ...OTHERS].toSorted()).toEqual(names.toSorted())
  })
})

describe("a moved account", () => {
  it("has the same rows in the other database, and none in that where it was; and back again", async () => {
    const { accountId, caller } = await makeCallerIn(2)
    await fillTables(accountId, bindingOf(env, 2), OTHERS)
    for (let made = 0; made < 120; made += 1) await makeQueuedJob(accountId)
    const before = await rowsIn(accountId, 2)
    expect(Object.keys(before).toSorted()).toEqual([...new Set(ACCOUNT_TABLES)].toSorted())
    const storage = await databaseOf(env, accountId).sql.all(
      "select sum(bytes) from account_storage",
    )
    expect(await move(accountId, 3)).toBe("moved")
    expect(await rowsIn(accountId, 3)).toEqual(before)
    expect(await countRows(accountId, bindingOf(env, 2))).toEqual({})
    expect(
      await databaseOf(env, accountId).sql.all("select sum(bytes) from account_storage"),
    ).toEqual(storage)
    const id = await createCommand(caller)
    expect((await caller.call(`/commands/${id}`)).status).toBe(200)
    expect(await move(accountId, 1)).toBe("moved")
    expect(await move(accountId, 2)).toBe("moved")
    expect((await rowsIn(accountId, 2))["jobs"]).toBe((before["jobs"] ?? 0) + 1)
    for (const database of [1, 3]) expect(await rowsIn(accountId, database)).toEqual({})
    expect((await caller.call(`/commands/${id}`)).status).toBe(200)
  })

  it("takes rows along that are too large to be copied with others", async () => {
    const { accountId } = await makeCallerIn(4)
    const { jobId } = await makeQueuedJob(accountId)
    const text = "é\"'\\\u0001".repeat(130_000)
    const database = databaseOf(env, accountId)
    const set = JSON.stringify({ text })
    await bindingOf(env, 4)
      .prepare("update jobs set request = ? where id = ?")
      .bind(set, jobId)
      .run()
    const before = await findJob(database, jobId)
    expect(await move(accountId, 1)).toBe("moved")
    expect(await findJob(database, jobId)).toEqual(before)
    expect(before?.request).toEqual({ text })
  })

  it("loses nothing that is accepted meanwhile, and is refused at worst for a moment", async () => {
    const { accountId, caller } = await makeCallerIn(1, "trial")
    const file = await upload(caller, "seen.txt", "0123")
    expect((await caller.call(`/files/${file.id}/publish`, { method: "POST" })).status).toBe(200)
    let isMoved = false
    const made: string[] = []
    const statuses = new Set<number>()
    const waits = new Set<string | null>()
    async function create(): Promise<void> {
      while (!isMoved) {
        const answer = await caller.post("/commands", COMMAND)
        statuses.add(answer.status)
        if (answer.status === 503) waits.add(answer.headers.get("retry-after"))
        const { command_id } = await answer.json<{ command_id?: string }>()
        if (command_id !== undefined) made.push(command_id)
        const [id = ""] = made.slice(-1)
        const read = await caller.call(`/commands/${id}`)
        statuses.add(read.status)
        await read.body?.cancel()
        const open = await ask(`/public/${file.id}/seen.txt`)
        statuses.add(open.status)
        await open.body?.cancel()
      }
    }
    const using = create()
    const state = await move(accountId, 4)
    isMoved = true
    await using
    expect(state).toBe("moved")
    expect([...statuses].filter((status) => ![200, 202, 429, 503].includes(status))).toEqual([])
    expect([...waits].filter((wait) => wait !== "5")).toEqual([])
    expect(made.length).toBeGreaterThan(0)
    const database = databaseOf(env, accountId)
    for (const id of made) expect(await findJob(database, id)).not.toBeNull()
    expect(await rowsIn(accountId, 1)).toEqual({})
    expect((await ask(`/public/${file.id}/seen.txt`)).status).toBe(200)
  })

  it("has a published file wait for its new place, where it was found in the old one", async () => {
    const { accountId, caller } = await makeCallerIn(2)
    const file = await upload(caller, "seen.txt", "0123")
    expect((await caller.call(`/files/${file.id}/publish`, { method: "POST" })).status).toBe(200)
    expect(await beginMove(env, accountId, 3)).toBeNull()
    while ((await stepMove(env, accountId))?.state !== "closing") await scheduler.wait(50)
    const asked = Promise.all([1, 2, 3].map(() => ask(`/public/${file.id}/seen.txt`)))
    expect(await goOn(accountId)).toBe("moved")
    expect((await asked).map(({ status }) => status)).toEqual([200, 200, 200])
    expect(await Promise.all((await asked).map((each) => each.text()))).toEqual(
      Array(3).fill("0123"),
    )
  })

  it("is read and not written while it is copied, and upkeep leaves both databases alone", async () => {
    const { accountId, caller } = await makeCallerIn(3)
    const id = await createCommand(caller)
    expect(await beginMove(env, accountId, 2)).toBeNull()
    await scheduler.wait(300)
    expect((await caller.call(`/commands/${id}`)).status).toBe(200)
    // What the health and the sweep ask first of each database, whoever is moved.
    const shared = await Promise.all(
      databasesOf(env).map((each) => listAccountsWithOpenJobs(each, { after: "", limit: 1000 })),
    )
    expect(shared[2]).toContain(accountId)
    const answer = await caller.post("/commands", COMMAND)
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "5"])
    const writing = databaseOf(env, accountId).sql.run(`update jobs set priority = 1`)
    expect(isMoving(await writing.catch((error: unknown) => error))).toBe(true)
    await sweep(env, Date.now() + 400 * 24 * 3_600_000)
    expect((await rowsIn(accountId, 3))["jobs"]).toBe(1)
    expect(await goOn(accountId)).toBe("moved")
    expect((await caller.call(`/commands/${id}`)).status).toBe(200)
  })

  it("is copied on after whoever copied it died, whatever it had noted", async () => {
    const { accountId } = await makeCallerIn(2)
    for (let made = 0; made < 3; made += 1) await makeQueuedJob(accountId)
    const before = await rowsIn(accountId, 2)
    expect(await beginMove(env, accountId, 4)).toBeNull()
    const directory = directoryOf(env)
    const own = `where account_id = '${accountId}'`
    while ((await stepMove(env, accountId))?.state === "copying") await scheduler.wait(100)
    // As if the step that copied all had died before it said so, and the next one at the switch.
    await directory.run(
      `update account_moves set state = 'copying', since = 0, version = version + 1 ${own}`,
    )
    await stepMove(env, accountId)
    await directory.run(`update account_moves set lease_until = ${Date.now() + 1000} ${own}`)
    expect(await goOn(accountId)).toBe("moved")
    expect(await rowsIn(accountId, 4)).toEqual(before)
    expect(await rowsIn(accountId, 2)).toEqual({})
  })
})

describe("a move that does not come to its end", () => {
  it("leaves the account where it is, when it is given up", async () => {
    const { accountId, caller } = await makeCallerIn(3)
    const id = await createCommand(caller)
    expect(await beginMove(env, accountId, 1)).toBeNull()
    expect(await beginMove(env, accountId, 2)).toBe("moving")
    expect(await giveUpMove(env, accountId)).toBe(true)
    expect(await goOn(accountId)).toBe("stayed")
    expect(await giveUpMove(env, accountId)).toBe(false)
    await createCommand(caller)
    expect((await caller.call(`/commands/${id}`)).status).toBe(200)
    expect(await rowsIn(accountId, 1)).toEqual({})
  })

  it("leaves it there, too, where not all rows were copied, and says which", async () => {
    const { accountId, caller } = await makeCallerIn(4)
    await createCommand(caller)
    await bindingOf(env, 2)
      .prepare("insert into metadata_lookups values (?, 'of nobody', ?, 0)")
      .bind(accountId, newId())
      .run()
    const answer = await askOperator(`/accounts/${accountId}/move`, {
      method: "POST",
      body: JSON.stringify({ database: 2 }),
    })
    expect(await answer.json()).toMatchObject({ from: 4, to: 2, state: "copying", error: null })
    expect(await goOn(accountId)).toBe("stayed")
    const step = await askOperator(`/accounts/${accountId}/move/step`, { method: "POST" })
    expect(await step.json()).toMatchObject({ error: "metadata_lookups were not copied whole" })
    expect(await rowsIn(accountId, 2)).toEqual({})
    await createCommand(caller)
  })

  it("is refused to where there is no database, the account is, or no account is", async () => {
    const { accountId } = await makeCallerIn(4)
    expect(await beginMove(env, accountId, 5)).toBe("no_database")
    expect(await beginMove(env, accountId, 4)).toBe("there")
    expect(await beginMove(env, newId(), 2)).toBe("absent")
  })
})
