import { existsSync } from "node:fs"
import { aptInstall, canAptInstall } from "./apt.ts"
import type { SetupStep } from "./step.ts"

let wasTried = false

/** bubblewrap, which one kind of sandbox uses; the service runs without it too. */
export const bubblewrap: SetupStep = {
  name: "bubblewrap",
  advice: "Lathe would use bubblewrap for its sandbox: install it and run this again.",

  async isDone() {
    return existsSync("/usr/bin/bwrap") || wasTried || !(await canAptInstall())
  },

  canMake: canAptInstall,

  async make() {
    wasTried = true
    try {
      await aptInstall("bubblewrap")
    } catch (error) {
      console.error("Going on without bubblewrap:", error instanceof Error ? error.message : error)
    }
  },
}
