import { z } from "zod"
import { CliError } from "../local/cli-error.ts"
import type { DeploymentId } from "../local/deployment-record.ts"
import { recordedNames } from "../local/deployment-record.ts"
import { findAccount } from "./account.ts"
import { call } from "./cloudflare.ts"
import type { ApiResult, Cloudflare } from "./cloudflare.ts"
import { settingsOfClone } from "./config.ts"
import { readDeployed } from "./deployed.ts"
import type { DeployedWorker } from "./deployed.ts"
import { findDomainProblem } from "./domain.ts"
import { findDockerProblem, findWrongTools } from "./machine.ts"
import { findClosedServices, describeRefusal } from "./services.ts"
import { mergeSettings, readWanted } from "./settings.ts"
import type { WorkerVariables, Wanted } from "./settings.ts"

const NO_SUBDOMAIN_CODE = 10_007

/** What the phases after the checks work with. */
export type Deployment = {
  id: DeploymentId
  api: Cloudflare
  name: string
  /** Null before the first deployment. */
  deployed: DeployedWorker | null
  /** The Worker's settings after the deployment. */
  vars: WorkerVariables
  /** Secrets that the environment sets, and the names of those that it empties. */
  secrets: { given: Record<string, string>; dropped: string[] }
  /** Where callers reach it, without /v1. */
  origin: string
}

type Outcome = { problems: string[]; deployment: Deployment | null }

/** Checks this machine, the settings and the account; a CliError names all that is missing. */
export async function checkEverything(
  environment: NodeJS.ProcessEnv,
  stateDir: string,
): Promise<Deployment> {
  const wanted = readWanted(environment)
  const [dockerProblem, { problems, deployment }] = await Promise.all([
    findDockerProblem(),
    checkAccount(environment, stateDir),
  ])
  const all = [...findWrongTools(), ...wanted.problems, ...problems]
  if (dockerProblem !== null) all.push(dockerProblem)
  if (all.length > 0 || !deployment) throw missing(all)
  return deployment
}

/** A CliError that lists the problems that prevent a deployment. */
export function missing(problems: string[]): CliError {
  return new CliError(
    `Nothing was changed, since this is missing:\n${problems.map((one) => `- ${one}`).join("\n")}`,
  )
}

async function checkAccount(environment: NodeJS.ProcessEnv, stateDir: string): Promise<Outcome> {
  const account = await findAccount(environment)
  if (!account.isFound) return { problems: [account.problem], deployment: null }
  const { api } = account
  const wanted = readWanted(environment)
  const path = "/workers/subdomain"
  const subdomain = await call(api, "GET", path)
  if (!subdomain.isOk && subdomain.code !== NO_SUBDOMAIN_CODE) {
    const forWhat = `on account ${api.accountId}`
    return { problems: [describeRefusal(subdomain, { path, forWhat })], deployment: null }
  }
  const problems = await findClosedServices(api)
  // A name that is not valid cannot be looked up.
  if (wanted.problems.length > 0) return { problems, deployment: null }
  const site = await checkSite({ environment, stateDir, api, wanted, subdomain })
  return { problems: [...problems, ...site.problems], deployment: site.deployment }
}

/** Reads what is deployed already and derives the deployment from it and the settings. */
async function checkSite(site: {
  environment: NodeJS.ProcessEnv
  stateDir: string
  api: Cloudflare
  wanted: Wanted
  subdomain: ApiResult
}): Promise<Outcome> {
  const { environment, stateDir, api, wanted, subdomain } = site
  const problems: string[] = []
  const { name } = wanted
  const id = { stateDir, accountId: api.accountId, name }
  const deployed = await readDeployed(api, name)
  const [other] = environment["LATHE_NAME"] === undefined ? recordedNames(id) : []
  if (!deployed && other !== undefined && other !== name) {
    problems.push(
      `This machine has deployed "${other}" to the account: update it by \`LATHE_NAME=${other} npm run deploy\`, or make a second deployment by \`LATHE_NAME=${name} npm run deploy\`.`,
    )
  }
  const vars = mergeSettings(wanted, deployed?.vars ?? {}, settingsOfClone())
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
  const secrets = { given: wanted.secrets, dropped: wanted.droppedSecrets }
  return { problems, deployment: { id, api, name, deployed, vars, secrets, origin } }
}

/** Accounts are in all databases that there were. */
function findFewerDatabases(vars: WorkerVariables, deployed: DeployedWorker | null): string | null {
  const [wanted, before] = [vars, deployed?.vars].map((each) => Number(each?.["DATABASES"] ?? 1))
  if (wanted === undefined || before === undefined || wanted >= before) return null
  return `DATABASES is ${wanted}, and ${before} databases are deployed: it may only rise.`
}

/** Null where the account has no workers.dev name and the deployment no domain of its own. */
function originOf(vars: Deployment["vars"], name: string, subdomain: ApiResult): string | null {
  const { LATHE_DOMAIN: domain, PUBLIC_ORIGIN: known } = vars
  if (domain === undefined && !subdomain.isOk) return null
  if (typeof known === "string") return new URL(known).origin
  if (!subdomain.isOk) return null
  const { subdomain: label } = z.object({ subdomain: z.string() }).parse(subdomain.result)
  return `https://${name}.${label}.workers.dev`
}
