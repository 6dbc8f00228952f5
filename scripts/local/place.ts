import { availableParallelism } from "node:os"
import { resolve } from "node:path"
import { z } from "zod"
import { Complaint } from "./complaint.ts"

const PORT_MAX = 65_535

const variables = z.object({
  PORT: z.coerce.number().int().min(1).max(PORT_MAX).default(8787),
  HOST: z.string().min(1).default("127.0.0.1"),
  STATE_DIR: z.string().min(1).default(".lathe"),
  RUNNER_CAPACITY: z.coerce.number().int().positive().default(availableParallelism()),
  SWEEP_SECONDS: z.coerce.number().positive().default(60),
})

const expectations = {
  PORT: `a whole number from 1 to ${PORT_MAX}`,
  HOST: "an address to listen on",
  STATE_DIR: "a folder",
  RUNNER_CAPACITY: "a whole number above 0",
  SWEEP_SECONDS: "a number above 0",
}

export type Place = {
  host: string
  port: number
  /** Where this machine reaches the service, without /v1. */
  origin: string
  /** Absolute path of the folder that holds everything the service keeps. */
  stateDir: string
  runnerCapacity: number
  sweepEveryMs: number
}

/** Where the local service lives, as the environment says; throws a Complaint on a bad value. */
export function readPlace(environment: NodeJS.ProcessEnv): Place {
  const { data, error } = variables.safeParse(environment)
  if (error) throw new Complaint(complaintOf(error, environment))
  return {
    host: data.HOST,
    port: data.PORT,
    origin: `http://${reachableHost(data.HOST)}:${data.PORT}`,
    stateDir: resolve(data.STATE_DIR),
    runnerCapacity: data.RUNNER_CAPACITY,
    sweepEveryMs: data.SWEEP_SECONDS * 1000,
  }
}

function complaintOf(error: z.ZodError, environment: NodeJS.ProcessEnv): string {
  const name = variables.keyof().parse(error.issues[0]?.path[0])
  return `${name} must be ${expectations[name]}, not "${environment[name]}".`
}

/** An address that means "every interface" is no place to connect to. */
function reachableHost(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "127.0.0.1"
  return host.includes(":") ? `[${host}]` : host
}
