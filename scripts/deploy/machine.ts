import { execFile } from "node:child_process"
import { promisify } from "node:util"
import packageJson from "../../package.json" with { type: "json" }
import wranglerJson from "wrangler/package.json" with { type: "json" }

const NODE_MAJOR_MIN = 22
const DOCKER_WITHIN_MS = 30_000

const DOCKER_ADVICE =
  "Docker does not respond, and it builds the image of the runners: install and start Docker, or a " +
  "compatible program, and check it by `docker info`."

/** Returns a sentence for each unsupported version of Node.js or wrangler on this machine. */
export function findToolProblems(): string[] {
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

/** Describes the versions of Node.js and wrangler in a text for the user. */
export function describeToolVersions(): string {
  return `Node ${process.versions.node}, wrangler ${wranglerJson.version}`
}

/** Returns null if the Docker engine responds, else a sentence with advice. */
export async function findDockerProblem(): Promise<string | null> {
  // Uses the Docker client that wrangler uses: WRANGLER_DOCKER_BIN, else `docker`.
  const program = process.env["WRANGLER_DOCKER_BIN"] ?? "docker"
  try {
    await promisify(execFile)(program, ["info"], { timeout: DOCKER_WITHIN_MS })
    return null
  } catch {
    return DOCKER_ADVICE
  }
}
