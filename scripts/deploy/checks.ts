import { z } from "zod"
import { CliError } from "../cli/cli-error.ts"
import { listRecordedDeployments } from "../cli/deployment-record.ts"
import type { DeploymentId } from "../cli/deployment-record.ts"
import { findCloudflareAccount } from "./account.ts"
import { callCloudflare } from "./cloudflare.ts"
import type { CloudflareApiResult, CloudflareAccount } from "./cloudflare.ts"
import { readWranglerSettings } from "./config.ts"
import { readDeployedWorker } from "./deployed.ts"
import type { DeployedWorker } from "./deployed.ts"
import { findDockerProblem, findToolProblems } from "./machine.ts"
import { mergeDeploymentSettings, readDeploymentSettings } from "./settings.ts"
import type { DeploymentSettings, WorkerVariables } from "./settings.ts"
import { Resolver } from "node:dns/promises"
import { describeNeededCloudflareRight } from "./rights.ts"

const NO_SUBDOMAIN_CODE = 10_007

/** Result of the checks that precede a deployment, and input of the later phases. */
export type CheckedDeployment = {
  id: DeploymentId
  api: CloudflareAccount
  name: string
  /** Deployed Worker; null before the first deployment. */
  deployed: DeployedWorker | null
  /** The Worker's settings after the deployment. */
  vars: WorkerVariables
  /**
   * Secrets to set, from the environment, and names of secrets to remove, whose variables in the
   * environment are empty.
   */
  secrets: { given: Record<string, string>; dropped: string[] }
  /** Origin at which callers reach the service, without /v1. */
  origin: string
}

type Outcome = { problems: string[]; deployment: CheckedDeployment | null }

/**
 * Checks this machine, the settings and the Cloudflare account. Throws a CliError that lists all
 * problems.
 */
export async function checkDeployment(
  environment: NodeJS.ProcessEnv,
  stateDir: string,
): Promise<CheckedDeployment> {
  const settings = readDeploymentSettings(environment)
  const [dockerProblem, { problems, deployment }] = await Promise.all([
    findDockerProblem(),
    checkAccount(environment, stateDir),
  ])
  const all = [...findToolProblems(), ...settings.problems, ...problems]
  if (dockerProblem !== null) all.push(dockerProblem)
  if (all.length > 0 || !deployment) throw makeDeploymentProblemsError(all)
  return deployment
}

/** Returns a CliError that lists the problems that prevent a deployment. */
export function makeDeploymentProblemsError(problems: string[]): CliError {
  return new CliError(
    `No change was made. Missing:\n${problems.map((one) => `- ${one}`).join("\n")}`,
  )
}

async function checkAccount(environment: NodeJS.ProcessEnv, stateDir: string): Promise<Outcome> {
  const account = await findCloudflareAccount(environment)
  if (!account.isFound) return { problems: [account.problem], deployment: null }
  const { api } = account
  const settings = readDeploymentSettings(environment)
  const path = "/workers/subdomain"
  const subdomain = await callCloudflare(api, "GET", path)
  if (!subdomain.isOk && subdomain.code !== NO_SUBDOMAIN_CODE) {
    const forWhat = `on account ${api.accountId}`
    return { problems: [describeRefusal(subdomain, { path, forWhat })], deployment: null }
  }
  const problems = await findClosedServices(api)
  // Stops if a setting is invalid, because a Worker with an invalid name cannot be requested.
  if (settings.problems.length > 0) return { problems, deployment: null }
  const site = await checkSite({ environment, stateDir, api, settings, subdomain })
  return { problems: [...problems, ...site.problems], deployment: site.deployment }
}

/**
 * Reads the deployed Worker, merges its settings with those of the environment, and returns the new
 * deployment or its problems.
 */
async function checkSite(site: {
  environment: NodeJS.ProcessEnv
  stateDir: string
  api: CloudflareAccount
  settings: DeploymentSettings
  subdomain: CloudflareApiResult
}): Promise<Outcome> {
  const { environment, stateDir, api, settings, subdomain } = site
  const problems: string[] = []
  const { name } = settings
  const id = { stateDir, accountId: api.accountId, name }
  const deployed = await readDeployedWorker(api, name)
  const [other] = environment["LATHE_NAME"] === undefined ? listRecordedDeployments(id) : []
  if (!deployed && other !== undefined && other !== name) {
    problems.push(
      `This machine has deployed "${other}" to the account: update it by \`LATHE_NAME=${other} npm run deploy\`, or make a second deployment by \`LATHE_NAME=${name} npm run deploy\`.`,
    )
  }
  const vars = mergeDeploymentSettings(settings, deployed?.vars ?? {}, readWranglerSettings())
  const fewer = findFewerDatabases(vars, deployed)
  if (fewer !== null) problems.push(fewer)
  const domain = vars["LATHE_DOMAIN"]
  if (typeof domain === "string" && domain !== deployed?.vars["LATHE_DOMAIN"]) {
    const inUse = await findDomainProblem(domain)
    if (inUse !== null) problems.push(inUse)
  }
  const origin = originOf(vars, name, subdomain)
  if (origin === null) {
    problems.push(
      `The account has no workers.dev name yet: choose one at https://dash.cloudflare.com/${api.accountId}/workers/onboarding, or set LATHE_DOMAIN to a host name of a zone in it.`,
    )
    return { problems, deployment: null }
  }
  const secrets = { given: settings.secrets, dropped: settings.droppedSecrets }
  return { problems, deployment: { id, api, name, deployed, vars, secrets, origin } }
}

/**
 * Returns an error sentence if the setting DATABASES is less than the number of deployed databases,
 * because every deployed database holds accounts. Returns null otherwise.
 */
function findFewerDatabases(vars: WorkerVariables, deployed: DeployedWorker | null): string | null {
  const [requested, current] = [vars, deployed?.vars].map((each) =>
    Number(each?.["DATABASES"] ?? 1),
  )
  if (requested === undefined || current === undefined || requested >= current) return null
  return `DATABASES is ${requested}, and ${current} databases are deployed: it may only rise.`
}

/**
 * Returns the origin of the deployment. Returns null if the deployment has no domain of its own and
 * the Cloudflare account has no workers.dev name.
 */
function originOf(
  vars: CheckedDeployment["vars"],
  name: string,
  subdomain: CloudflareApiResult,
): string | null {
  const { LATHE_DOMAIN: domain, PUBLIC_ORIGIN: known } = vars
  if (domain === undefined && !subdomain.isOk) return null
  if (typeof known === "string") return new URL(known).origin
  if (!subdomain.isOk) return null
  const { subdomain: label } = z.object({ subdomain: z.string() }).parse(subdomain.result)
  return `https://${name}.${label}.workers.dev`
}

/**
 * Returns a sentence if a host name already resolves, else null. Without a terminal, wrangler
 * replaces the DNS record of a host name without asking.
 */
async function findDomainProblem(domain: string): Promise<string | null> {
  const resolver = new Resolver({ timeout: 2000, tries: 2 })
  const addresses = await Promise.any([resolver.resolve4(domain), resolver.resolve6(domain)]).catch(
    () => [],
  )
  if (addresses.length === 0) return null
  return `LATHE_DOMAIN ${domain} is in use: it resolves to ${addresses[0]}, and deploying would replace that DNS record. Remove the record, or choose another name.`
}

const SERVER_ERROR = 500
const PAID_PLAN =
  " They need the Workers Paid plan: https://dash.cloudflare.com/?to=/:account/workers/plans."

/** Validity of the registry credentials that the check requests, in minutes. */
const CREDENTIALS_MINUTES = 5

/**
 * Services of Cloudflare that a deployment uses, each with a call that changes nothing and the
 * advice for a refusal.
 */
const SERVICES: Service[] = [
  { name: "D1", method: "GET", path: "/d1/database?per_page=10", advice: "" },
  { name: "Queues", method: "GET", path: "/queues?page=1", advice: "" },
  {
    name: "R2",
    method: "GET",
    path: "/r2/buckets?per_page=1",
    advice:
      " R2 is switched on once for each account: https://dash.cloudflare.com/?to=/:account/r2.",
  },
  {
    name: "containers",
    method: "GET",
    path: "/containers/me",
    advice: PAID_PLAN,
  },
  {
    name: "images of containers",
    method: "POST",
    path: "/containers/registries/registry.cloudflare.com/credentials",
    body: { expiration_minutes: CREDENTIALS_MINUTES, permissions: ["push", "pull"] },
    advice: "",
  },
]

type Service = {
  name: string
  method: "GET" | "POST"
  path: string
  body?: Record<string, unknown>
  advice: string
}

type Refusal = CloudflareApiResult & { isOk: false }

/**
 * Returns a sentence for each service of Cloudflare that the account or its credentials may not
 * use.
 */
async function findClosedServices(api: CloudflareAccount): Promise<string[]> {
  const sentences = await Promise.all(
    SERVICES.map(async ({ name, method, path, body, advice }) => {
      const answer = await callCloudflare(api, method, path, body)
      if (answer.isOk) return []
      const forWhat = `for ${name} on account ${api.accountId}`
      return [describeRefusal(answer, { path, forWhat }) + advice]
    }),
  )
  return sentences.flat()
}

/**
 * Describes a refused call of Cloudflare's API. Names two possible causes, because Cloudflare sends
 * the same response if the account's plan lacks a service and if the token may not use it.
 */
function describeRefusal(
  { status, message }: Refusal,
  { path, forWhat }: { path: string; forWhat: string },
): string {
  if (status >= SERVER_ERROR) return `Cloudflare's API failed: ${message}. Try again later.`
  return `Cloudflare refuses these credentials ${forWhat}: ${message}.${describeNeededCloudflareRight(path)}`
}
