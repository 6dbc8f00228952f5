import { execFile } from "node:child_process"
import { promisify } from "node:util"
import packageJson from "../../package.json" with { type: "json" }
import wranglerJson from "wrangler/package.json" with { type: "json" }

const NODE_MAJOR_MIN = 22
const DOCKER_WITHIN_MS = 30_000

const DOCKER_ADVICE =
  "Docker does not answer, and it builds the image of the runners: install and start Docker, or a " +
  "program that speaks its language, and see that `docker info` works."

/** Problems of this machine's Node and wrangler, a sentence each. */
export function findWrongTools(): string[] {
  const problems: string[] = []
  if (Number(process.versions.node.split(".")[0]) < NODE_MAJOR_MIN) {
    problems.push(`This is Node ${process.versions.node}: start it with \`npm run deploy\`.`)
  }
  const pinned = packageJson.devDependencies.wrangler
  if (wranglerJson.version !== pinned) {
    problems.push(`wrangler is ${wranglerJson.version}, not ${pinned}: run \`npm install\`.`)
  }
  return problems
}

/** Versions of the tools, to be printed. */
export function toolVersions(): string {
  return `Node ${process.versions.node}, wrangler ${wranglerJson.version}`
}

/** Null where the Docker engine answers, else a sentence that says what to do. */
export async function findDockerProblem(): Promise<string | null> {
  // wrangler finds Docker in the same way.
  const program = process.env["WRANGLER_DOCKER_BIN"] ?? "docker"
  try {
    await promisify(execFile)(program, ["info"], { timeout: DOCKER_WITHIN_MS })
    return null
  } catch {
    return DOCKER_ADVICE
  }
}
