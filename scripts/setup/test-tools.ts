import { execFile } from "node:child_process"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { installAptPackages, canInstallAptPackages } from "./apt.ts"
import { findPythonEnvironmentFolder, makePythonEnvironmentStep } from "./python-environment.ts"
import type { SetupStep } from "./step.ts"

// Programs that only tests and benchmarks use. Each Python program has its own virtual environment.
// The path of a program is valid when its set-up step is done.

const PATHS = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/usr/bin/google-chrome-stable",
  "/snap/bin/chromium",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
]

/**
 * Returns the path of a Chromium on this machine: CHROMIUM_PATH if set, else a usual path. Returns
 * null without a Chromium.
 */
export function findChromium(): string | null {
  const { CHROMIUM_PATH } = process.env
  const paths = CHROMIUM_PATH === undefined ? PATHS : [CHROMIUM_PATH]
  return paths.find((path) => existsSync(path)) ?? null
}

/** Set-up step for Chromium, which only tests of the dashboard use. */
export const chromiumStep: SetupStep = {
  name: "Chromium",
  advice: "Tests of the dashboard drive Chromium: install it, for example with `apt-get`.",
  isDone: () => Promise.resolve(findChromium() !== null),
  canMake: canInstallAptPackages,

  async make() {
    await installAptPackages("chromium")
  },
}

/** Set-up step for flite, which generates the speech of tests and benchmarks. */
export const fliteStep: SetupStep = {
  name: "flite",
  advice: "Tests of speech generate it by flite: install it, for example with `apt-get`.",

  async isDone() {
    try {
      await promisify(execFile)("flite", ["-lv"])
      return true
    } catch {
      return false
    }
  },

  canMake: canInstallAptPackages,

  async make() {
    await installAptPackages("flite")
  },
}

/**
 * Path of the Python with the package prometheus_client, which parses the text format of metrics.
 */
export const PROMETHEUS_PYTHON_PATH = join(
  findPythonEnvironmentFolder("prometheus"),
  "bin",
  "python",
)
export const prometheusStep = makePythonEnvironmentStep({
  name: "prometheus",
  neededFor: "The tests of /metrics need",
  proof: ["python", "-c", "import prometheus_client"],
})

/** Path of the program rclone, which is the S3 server of tests. */
export const RCLONE_PATH = join(findPythonEnvironmentFolder("rclone"), "bin", "rclone")
export const rcloneStep = makePythonEnvironmentStep({
  name: "rclone",
  neededFor: "The tests of inputs in stores need",
  proof: ["rclone", "version"],
})

export const SCHEMATHESIS_PATH = join(
  findPythonEnvironmentFolder("schemathesis"),
  "bin",
  "schemathesis",
)
export const schemathesisStep = makePythonEnvironmentStep({
  name: "schemathesis",
  neededFor: "The tests of the API's description need",
  proof: ["schemathesis", "--version"],
})

const WHISPER = "whisper-ctranslate2"
export const WHISPER_CTRANSLATE2_PATH = join(findPythonEnvironmentFolder(WHISPER), "bin", WHISPER)
export const whisperCtranslate2Step = makePythonEnvironmentStep({
  name: WHISPER,
  neededFor: "The benchmark of transcriptions needs",
  proof: [WHISPER, "--version"],
})
