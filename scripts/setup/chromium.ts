import { existsSync } from "node:fs"
import { aptInstall, canAptInstall } from "./apt.ts"
import type { SetupStep } from "./step.ts"

const PATHS = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/usr/bin/google-chrome-stable",
  "/snap/bin/chromium",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
]

/** The program of a Chromium on this machine, that of CHROMIUM_PATH first; null where there is none. */
export function findChromium(): string | null {
  const { CHROMIUM_PATH } = process.env
  const paths = CHROMIUM_PATH === undefined ? PATHS : [CHROMIUM_PATH]
  return paths.find((path) => existsSync(path)) ?? null
}

/** Chromium, which tests of the dashboard drive; nothing else needs it. */
export const chromium: SetupStep = {
  name: "Chromium",
  advice: "Tests of the dashboard drive Chromium: install it, for example with `apt-get`.",
  isDone: () => Promise.resolve(findChromium() !== null),
  canMake: canAptInstall,

  async make() {
    await aptInstall("chromium")
  },
}
