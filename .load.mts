import { openBenchScope } from "./scripts/bench/scope.ts"
import { runMixedLoad } from "./scripts/bench/mixed/callers.ts"
import { openCaller } from "./scripts/bench/caller.ts"
const [, , origin, secs, ...keys] = process.argv
const scope = openBenchScope()
const ends = performance.now() + Number(secs) * 1000
const tally = await runMixedLoad(scope, { callers: keys.map((key) => openCaller(origin!, { "x-api-key": key })), commandsPerMinute: 250, isOver: () => performance.now() > ends })
console.log(tally)
await scope.close()
process.exit()
