import type { Env } from "../../src/bindings/env.ts"
import { sweepDirectory } from "../../src/upkeep/sweep.ts"
import { sweepDatabase } from "../../src/upkeep/sweep-database.ts"
import { countDatabases } from "../../src/db/database.ts"

/**
 * Sweeps the directory and each database directly, with the environment of the test instead of that
 * of Durable Objects.
 */
export async function sweepDirectly(
  env: Env,
  now: number,
  { isStart = false }: { isStart?: boolean } = {},
): Promise<void> {
  await sweepDirectory(env, now)
  for (let database = 1; database <= countDatabases(env); database += 1) {
    await sweepDatabase(env, { database, now, isStart })
  }
}
