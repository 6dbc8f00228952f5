import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { buildRuntime } from "../../build/runtime.ts"

// Bundles the service as `npm run setup` does, with counters in the Worker and in D1. Runs as its
// own process, so that its memory is freed at the end. The only argument is an empty folder.

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
