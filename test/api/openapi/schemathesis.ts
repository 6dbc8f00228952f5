import { execFile } from "node:child_process"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { SCHEMATHESIS_PATH } from "../../../scripts/setup/test-tools.ts"
import { makeTempFolder } from "../../../scripts/cli/temp-folder.ts"

const RUN_MS_MAX = 1_080_000
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024
const EXAMPLES_MAX = 8

/**
 * Checks of schemathesis, without those that a correct answer may fail. A request that fits the
 * schema may still be refused for its ffmpeg command (positive_data_acceptance).
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

/** Settings of schemathesis; too large headers get a 431 before other checks. */
const CONFIGURATION = `
[checks.negative_data_rejection]
expected-statuses = ["400", "401", "403", "404", "405", "406", "409", "415", "422", "428", "429", "431", "5xx"]
`

/**
 * Runs schemathesis against an origin and checks every answer. The origin overrides the servers of
 * the OpenAPI document.
 */
export async function runSchemathesis(
  { documentUrl, origin }: { documentUrl: string; origin: string },
  headers: Record<string, string> = {},
): Promise<{ isOk: boolean; output: string }> {
  // Schemathesis writes caches to its working directory.
  await using folder = await makeTempFolder("schemathesis")
  await writeFile(join(folder.path, "schemathesis.toml"), CONFIGURATION)
  // Tus has statuses and a media type that Schemathesis does not know; tests of their own hold
  // them.
  const excluded = ["--exclude-path-regex", "^/(?:v1/)?uploads(?!/links)"]
  const limits = [...excluded, "--max-examples", String(EXAMPLES_MAX), "--request-timeout", "30"]
  // A redirect is an answer to check, so it is not followed.
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
