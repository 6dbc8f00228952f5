import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { buildRuntime } from "../../build/runtime.ts"

// Bundles the service as set-up does, with what counts in it. As a process of its own, since what it
// takes is not to stay. Its one word is an empty folder.

const COUNTERS = {
  worker: "scripts/bench/counted/worker.ts",
  database: "scripts/bench/counted/database.ts",
}

const [folder = ""] = process.argv.slice(2)
const room = join(folder, "room")
mkdirSync(room)
const { config: bytes, record } = await buildRuntime(room, COUNTERS)
const config = join(folder, "workerd.bin")
writeFileSync(config, bytes)
writeFileSync(join(folder, "workerd.json"), JSON.stringify({ ...record, config }))
