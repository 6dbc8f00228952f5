import type { Jail, Sandbox } from "./sandbox.ts"

const taken = new Set<number>()

/** Opens the jail of one workspace, with a user that no other one has until it is closed. */
export function openJail(sandbox: Sandbox): Jail {
  if (sandbox.firstUid === null) return { sandbox, uid: null }
  // The first is the runner's own, for what it asks of tools itself.
  let uid = sandbox.firstUid + 1
  while (taken.has(uid)) uid += 1
  taken.add(uid)
  return { sandbox, uid }
}

/** Gives the user back; its workspace must be gone by then. */
export function closeJail({ uid }: Jail): void {
  if (uid !== null) taken.delete(uid)
}
