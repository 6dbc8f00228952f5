import type { DatabaseSync } from "node:sqlite"

export type Binding = {
  type: string
  name: string
  text?: string | undefined
  id?: string | undefined
  class_name?: string | undefined
}

export type CloudflareState = {
  token: string
  accounts: { id: string; name: string }[]
  hasSubdomain: boolean
  hasContainers: boolean
  hasR2: boolean
  hasAnalytics: boolean
  databases: { uuid: string; name: string; sqlite: DatabaseSync; replicas?: string }[]
  /** The places that databases and buckets were to be made near, by their names. */
  places: Map<string, string | undefined>
  buckets: Map<string, { id: string }[]>
  queues: { queue_id: string; queue_name: string; consumers: Consumer[] }[]
  workers: DeployedScript[]
  /** The Worker of the deployment, which is the first. */
  readonly worker: DeployedScript | null
  applications: ({ id: string; name: string } & Record<string, unknown>)[]
  /** Digests of the images in the registry, by `account/name:tag`. */
  images: Map<string, string>
  /**
   * Every call in order, ids left out, as `METHOD /path`; those that were answered with success.
   */
  calls: string[]
  /** Calls that this stand-in knows nothing of. */
  unknown: string[]
  /** Calls of this name are answered with status 500. */
  failing: string | null
  /** Rights that the token lacks, as RIGHTS of `cloudflare-routes.ts` names them. */
  lacking: Set<string>
  /** Runs after a call that changes something has changed it, before the caller is told. */
  onChange: ((call: string) => Promise<void>) | null
}

export type Consumer = { consumer_id: string; type: string; script: string } & Record<
  string,
  unknown
>

export type DeployedScript = {
  name: string
  versionId: string
  versionCount: number
  bindings: Binding[]
  secrets: Map<string, string>
  migrationTag: string | undefined
  crons: unknown
  domains: unknown
}

/** An account with nothing in it. */
export function makeCloudflareState(): CloudflareState {
  return {
    token: "a-token-of-the-stand-in",
    accounts: [{ id: "account-1", name: "Acme" }],
    hasSubdomain: true,
    hasContainers: true,
    hasR2: true,
    hasAnalytics: true,
    databases: [],
    buckets: new Map(),
    places: new Map(),
    queues: [],
    workers: [],
    get worker() {
      return this.workers[0] ?? null
    },
    applications: [],
    images: new Map(),
    calls: [],
    unknown: [],
    failing: null,
    lacking: new Set(),
    onChange: null,
  }
}

export type Call = {
  state: CloudflareState
  request: Request
  query: URLSearchParams
  /** The parts of the path that the route's asterisks match. */
  parts: string[]
}

export type Route = [name: string, answer: (call: Call) => unknown]
