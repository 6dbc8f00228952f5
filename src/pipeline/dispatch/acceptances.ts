import type { AccountDatabase } from "../../storage/database.ts"
import { noteAccepted } from "../../storage/jobs.ts"

const GATHER_MS = 50

/** Jobs that a dispatcher has queued and D1 does not know it of; noted together, a moment later. */
export function openAcceptances() {
  const jobIds = new Set<string>()
  let isNoting = false
  return {
    add: (jobId: string) => void jobIds.add(jobId),
    /** Notes all in D1; jobs whose task was claimed meanwhile are noted already and stay so. */
    async note(database: AccountDatabase): Promise<void> {
      if (isNoting) return
      isNoting = true
      await scheduler.wait(GATHER_MS)
      isNoting = false
      const ids = [...jobIds]
      jobIds.clear()
      await noteAccepted(database, ids, Date.now())
    },
  }
}
