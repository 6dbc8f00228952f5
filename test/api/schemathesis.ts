import { execFile } from "node:child_process"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { SCHEMATHESIS_PATH } from "../../scripts/setup/schemathesis.ts"
import { makeTempFolder } from "../../scripts/local/temp-folder.ts"

const RUN_MS_MAX = 360_000
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024
const EXAMPLES_MAX = 20

/**
 * All checks but those that a correct answer may fail: a request that fits the schema may still be
 * refused for what it asks of ffmpeg (positive_data_acceptance).
 */
const CHECKS = [
  "not_a_server_error",
  "status_code_conformance",
  "content_type_conformance",
  "response_headers_conformance",
  "response_schema_conformance",
  "negative_data_rejection",
  "missing_required_header",
  "unsupported_method",
  "allow_header_conformance",
  "ignored_auth",
  "use_after_free",
]

/** A head that is too large is refused whatever is wrong with its parts. */
const CONFIGURATION = `
[checks.negative_data_rejection]
expected-statuses = ["400", "401", "403", "404", "405", "406", "409", "415", "422", "428", "429", "431", "5xx"]
`

/**
 * Has schemathesis make requests to an origin, whatever servers the OpenAPI document names, and
 * check every answer against the document.
 */
export async function runSchemathesis(
  { documentUrl, origin }: { documentUrl: string; origin: string },
  headers: Record<string, string> = {},
): Promise<{ isOk: boolean; output: string }> {
  // It keeps caches where it runs.
  await using folder = await makeTempFolder("schemathesis")
  await writeFile(join(folder.path, "schemathesis.toml"), CONFIGURATION)
  const limits = ["--max-examples", String(EXAMPLES_MAX), "--request-timeout", "30"]
  // A redirect is an answer to check; it is not followed, wherever it leads.
  const behavior = ["--generation-deterministic", "--max-redirects", "0", "--workers", "1"]
  const sent = Object.entries(headers).flatMap(([name, value]) => ["--header", `${name}: ${value}`])
  const words = [
    "run",
    documentUrl,
    "--origin",
    origin,
    "--checks",
    CHECKS.join(","),
    ...limits,
    ...behavior,
    ...sent,
    "--continue-on-failure",
    "--no-color",
  ]
  const options = {
    cwd: folder.path,
    env: { PATH: process.env["PATH"], HOME: folder.path },
    timeout: RUN_MS_MAX,
    maxBuffer: OUTPUT_BYTES_MAX,
  }
  return await new Promise((resolve) => {
    execFile(SCHEMATHESIS_PATH, words, options, (error, stdout, stderr) => {
      resolve({ isOk: error === null, output: stdout + stderr })
    })
  })
}
