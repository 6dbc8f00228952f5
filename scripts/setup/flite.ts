import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { aptInstall, canAptInstall } from "./apt.ts"
import type { SetupStep } from "./step.ts"

/** flite, which speaks what tests listen to; nothing else needs it. */
export const flite: SetupStep = {
  name: "flite",
  advice: "Tests of speech have it spoken by flite: install it, for example with `apt-get`.",

  async isDone() {
    try {
      await promisify(execFile)("flite", ["-lv"])
      return true
    } catch {
      return false
    }
  },

  canMake: canAptInstall,

  async make() {
    await aptInstall("flite")
  },
}
