import { startServiceProcess } from "../../scripts/cli/service-process.ts"
import type { ServiceProcess } from "../../scripts/cli/service-process.ts"

export type TestService = ServiceProcess

/**
 * Starts the whole service with these settings, of another copy of the project where `folder` names
 * one; what it complains of is seen with the test.
 */
export async function startService(
  settings: Record<string, string> = {},
  folder = process.cwd(),
): Promise<TestService> {
  return await startServiceProcess({
    settings,
    folder,
    echoesErrors: true,
  })
}
