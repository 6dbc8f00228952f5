import { join } from "node:path"
import { environmentFolder, pythonEnvironment } from "./python-environment.ts"
import type { SetupStep } from "./step.ts"

const NAME = "fetch"

/** Path of the Python that has yt-dlp, once the step is done; an operator may have another. */
export const FETCH_PYTHON_PATH =
  process.env["FETCH_PYTHON_PATH"] ?? join(environmentFolder(NAME), "bin", "python")

const environment = pythonEnvironment({
  name: NAME,
  label: "yt-dlp",
  neededFor: "Lathe fetches media from the web by yt-dlp, which needs",
  proof: ["python", "-c", "import Cryptodome, certifi, requests, yt_dlp_ejs, yt_dlp.version"],
})

/** yt-dlp, which fetches media from the web. */
export const ytDlp: SetupStep = {
  ...environment,
  async isDone() {
    return process.env["FETCH_PYTHON_PATH"] !== undefined || (await environment.isDone())
  },
}
