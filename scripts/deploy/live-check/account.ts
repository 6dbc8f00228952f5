import pRetry from "p-retry"
import { createKey, deleteAccount, listAccounts } from "../../keys/operator.ts"
import type { Operator } from "../../keys/operator.ts"

const HOUR_MS = 3_600_000
const PREFIX = "deployment-check-"
const NAME = new RegExp(`^${PREFIX}[0-9a-f-]{36}$`)
const DELETE_RETRIES = 3

/** The account of one check. */
export type CheckAccount = AsyncDisposable & { key: string }

/**
 * Makes an account whose key counts for an hour, and deletes it when it is disposed of. Accounts that
 * checks of more than an hour ago left, as one that was killed does, are deleted, too.
 */
export async function openCheckAccount(
  operator: Operator,
  tell: (line: string) => void,
): Promise<CheckAccount> {
  await deleteLeftAccounts(operator)
  const name = `${PREFIX}${crypto.randomUUID()}`
  await using made = new AsyncDisposableStack()
  made.defer(async () => {
    if (await removeAccount(operator, name)) return
    tell(
      `The account ${name} of the check could not be deleted; its key ends by itself within an hour. Delete it at ${operator.origin}/operate/accounts.`,
    )
  })
  const expiresAt = new Date(Date.now() + HOUR_MS).toISOString()
  const { key } = await createKey(operator, { account: name, expires_at: expiresAt })
  const kept = made.move()
  return { key, [Symbol.asyncDispose]: async () => await kept.disposeAsync() }
}

async function deleteLeftAccounts(operator: Operator): Promise<void> {
  for (const { id, name, created_at: at, users } of await listAccounts(operator, PREFIX)) {
    const isLeft = NAME.test(name ?? "") && users.length === 0
    if (isLeft && Date.now() - Date.parse(at) > HOUR_MS) await deleteAccount(operator, id)
  }
}

/** Whether no account of the name is left. */
async function removeAccount(operator: Operator, name: string): Promise<boolean> {
  async function remove(): Promise<void> {
    const accounts = await listAccounts(operator, name)
    for (const { id } of accounts.filter((each) => each.name === name)) {
      await deleteAccount(operator, id)
    }
  }
  try {
    await pRetry(remove, { retries: DELETE_RETRIES })
    return true
  } catch {
    return false
  }
}
