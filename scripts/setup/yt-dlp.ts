import { join } from "node:path"
import { findPythonEnvironmentFolder, makePythonEnvironmentStep } from "./python-environment.ts"
import type { SetupStep } from "./step.ts"

const NAME = "fetch"

/** Path of the Python with yt-dlp: FETCH_PYTHON_PATH, else the Python of the set-up step. */
export const FETCH_PYTHON_PATH =
  process.env["FETCH_PYTHON_PATH"] ?? join(findPythonEnvironmentFolder(NAME), "bin", "python")

const environment = makePythonEnvironmentStep({
  name: NAME,
  label: "yt-dlp",
  neededFor: "Lathe fetches media from the web by yt-dlp, which needs",
  proof: ["python", "-c", "import Cryptodome, certifi, requests, yt_dlp_ejs, yt_dlp.version"],
})

/** Set-up step for yt-dlp, which downloads media from web pages. */
export const ytDlpStep: SetupStep = {
  ...environment,
  async isDone() {
    return process.env["FETCH_PYTHON_PATH"] !== undefined || (await environment.isDone())
  },
}
