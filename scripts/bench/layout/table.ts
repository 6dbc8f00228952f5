import type { Trip } from "./walk.ts"

/** The request whose way is measured, and what is to come of it. */
export type MeasuredTrip = Trip & {
  name: string
  /** Kinds of jobs and tasks that it is about: of a registry or a `switch`, these are taken. */
  kinds: string[]
  /** Calls of the platform that tell that the walk got there; else it lost its way in the source. */
  reaches: string[]
  goals: { files: number; crossings: number }
}

/** Folders of what runs when a request comes. */
export const RUNNING = ["src", "container"]
/** Folders of which the sizes are measured. */
export const SIZED = ["src", "container", "scripts", "test"]

export const TRIPS: MeasuredTrip[] = [
  {
    name: "POST /commands until 202",
    method: "POST",
    path: "/v1/commands",
    kinds: ["command"],
    endsAtAnswer: true,
    reaches: ["batch"],
    goals: { files: 18, crossings: 14 },
  },
  {
    name: "POST /commands until its webhook",
    method: "POST",
    path: "/v1/commands",
    kinds: ["command"],
    endsAtAnswer: false,
    reaches: ["batch", "setAlarm", "send", "spawn", "put", "fetch"],
    goals: { files: 60, crossings: 40 },
  },
  {
    name: "POST /files until 201",
    method: "POST",
    path: "/v1/files",
    kinds: ["file", "probe"],
    endsAtAnswer: true,
    reaches: ["put", "batch"],
    goals: { files: 18, crossings: 14 },
  },
]

/** What holds on every trip; names of it are those of the source. */
export const GROUND = {
  /** The Worker asks the runner by HTTP, and the runner the Worker. */
  doors: [
    { from: "src", to: "container", base: "" },
    { from: "container", to: "src", base: "/io/task" },
  ],
  /** Pure rules: whoever follows a request reads what is called, and not how it is decided. */
  sealed: ["src/contract", "src/kinds/command/policy"],
  assumed: {
    /** Outcomes that are not a success, and outputs that are more than one file. */
    unchosen: ["failed", "canceled", "interrupted", "ours", "series"],
    /** No Prefer, no Idempotency-Key, not sent again, plain outputs only. */
    absent: ["waitMs", "once", "idempotency", "replayed", "bundles"],
    /** The service runs on one machine, as where the other benchmarks measure it. */
    present: ["RUNNER_ORIGIN"],
    failureTypes: ["Failure", "FailureCode", "TaskFailure", "Explained", "Problem"],
  },
}

export const LINES_MAX = 300
export const LONG_LINES = 250
/** Folders in which no file may be long. */
export const SHORT_FOLDERS = ["src", "container"]

/** A kind of work with outputs only, and what is its own. */
export const KIND = {
  name: "command",
  own: ["src/kinds/command/", "src/contract/tasks/command.ts", "container/tasks/command.ts"],
  madeOfIt: ["src/kinds/ffmpeg/"],
  placesMax: 2,
}
