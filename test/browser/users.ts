import { globSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { hashPassword } from "better-auth/crypto"
import { v7 as newId } from "uuid"
import type { ServiceProcess } from "../../scripts/cli/service-process.ts"

const BUSY_MS_MAX = 10_000

/** A person who can sign in, and a key of the same account. */
export type TestUser = { email: string; password: string; key: string; accountId: string }

/** Makes an account with a key and its user, whose password is known. */
export async function makeUser(
  service: ServiceProcess,
  { email = "ada@example.com", isOperator = false, plan = "paid" } = {},
): Promise<TestUser> {
  const key = await service.makeKey(email, plan)
  const password = `the password of ${email}`
  const hash = await hashPassword(password)
  const accountId = withRows(service.stateDir, (rows) => {
    const account = rows.prepare("select id from accounts where name = ?").get(email)
    const user = { id: newId(), account: String(account?.["id"]), email, now: Date.now() }
    rows
      .prepare(
        `insert into users (id, account_id, name, email, email_verified, is_operator, created_at, updated_at)
         values (?, ?, ?, ?, 1, ?, ?, ?)`,
      )
      .run(user.id, user.account, "Ada", email, isOperator ? 1 : 0, user.now, user.now)
    rows
      .prepare(
        `insert into credentials (id, user_id, provider_id, provider_account_id, password, created_at, updated_at)
         values (?, ?, 'credential', ?, ?, ?, ?)`,
      )
      .run(newId(), user.id, user.id, hash, user.now, user.now)
    return user.account
  })
  return { email, password, key, accountId }
}

/** Reads or changes the rows of a running service, for what no route of it does. */
export function withRows<Result>(stateDir: string, act: (rows: DatabaseSync) => Result): Result {
  const paths = globSync(join(stateDir, "v3", "d1", "**", "*.sqlite"))
  const [path] = paths.filter((each) => !each.endsWith("metadata.sqlite"))
  if (path === undefined) throw new Error("the service has no rows yet")
  const rows = new DatabaseSync(path, { timeout: BUSY_MS_MAX })
  try {
    return act(rows)
  } finally {
    rows.close()
  }
}
