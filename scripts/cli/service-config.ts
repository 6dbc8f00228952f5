import { isIP } from "node:net"
import { availableParallelism } from "node:os"
import { resolve } from "node:path"
import { z } from "zod"
import { CliError } from "./cli-error.ts"

const PORT_MAX = 65_535

const variables = z.object({
  PORT: z.coerce.number().int().min(1).max(PORT_MAX).default(8787),
  HOST: z.string().refine(isAddress).default("127.0.0.1"),
  STATE_DIR: z.string().min(1).default(".lathe"),
  RUNNER_CAPACITY: z.coerce.number().int().positive().default(availableParallelism()),
  SWEEP_SECONDS: z.coerce.number().positive().default(60),
  REFUSE_PUBLIC_HOSTS: z.stringbool().default(false),
  CLIENT_ADDRESS_HEADER: z
    .string()
    .regex(/^[a-z0-9-]+$/i)
    .optional(),
})

const expectations = {
  PORT: `a whole number from 1 to ${PORT_MAX}`,
  HOST: "an address of this machine, such as 127.0.0.1, ::1 or 0.0.0.0, or localhost",
  STATE_DIR: "a folder",
  RUNNER_CAPACITY: "a whole number above 0",
  SWEEP_SECONDS: "a number above 0",
  REFUSE_PUBLIC_HOSTS: "true or false",
  CLIENT_ADDRESS_HEADER: "the name of a header",
}

/** Names of the environment variables that the start script itself reads. */
export const startScriptSettingNames = variables.keyof().options

export type ServiceConfig = {
  host: string
  port: number
  /** Origin at which this machine reaches the service, without /v1. */
  origin: string
  /** Absolute path of the folder that holds all stored data of the service. */
  stateDir: string
  runnerCapacity: number
  sweepEveryMs: number
  /**
   * Whether the Worker may call only the hosts in ALLOWED_PRIVATE_HOSTS. Applies to webhooks and to
   * URLs of inputs.
   */
  refusesPublicHosts: boolean
  /** Header in which a trusted proxy in front of the service sends the client's address. */
  clientAddressHeader?: string
}

/**
 * Reads the settings of the start script from the environment. Throws a CliError for an invalid
 * value.
 */
export function readServiceConfig(environment: NodeJS.ProcessEnv): ServiceConfig {
  const { data, error } = variables.safeParse(environment)
  if (error) throw new CliError(describeIssue(error, environment))
  return {
    host: data.HOST,
    port: data.PORT,
    origin: `http://${reachableHost(data.HOST)}:${data.PORT}`,
    stateDir: resolve(data.STATE_DIR),
    runnerCapacity: data.RUNNER_CAPACITY,
    sweepEveryMs: data.SWEEP_SECONDS * 1000,
    refusesPublicHosts: data.REFUSE_PUBLIC_HOSTS,
    ...(data.CLIENT_ADDRESS_HEADER !== undefined && {
      clientAddressHeader: data.CLIENT_ADDRESS_HEADER.toLowerCase(),
    }),
  }
}

function describeIssue(error: z.ZodError, environment: NodeJS.ProcessEnv): string {
  const name = variables.keyof().parse(error.issues[0]?.path[0])
  return `${name} must be ${expectations[name]}, not "${environment[name]}".`
}

/**
 * Reports whether a value of HOST is an IP address or `localhost`. Other names are refused because
 * they need a DNS server. Addresses with a zone are refused because a URL cannot contain a zone.
 */
function isAddress(host: string): boolean {
  return host === "localhost" || (isIP(host) !== 0 && !host.includes("%"))
}

/**
 * Returns a host to connect to for an address to listen on. Replaces addresses that mean "every
 * interface" by loopback.
 */
function reachableHost(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "127.0.0.1"
  return host.includes(":") ? `[${host}]` : host
}
