import { parentPort, workerData } from "node:worker_threads"
import { frontOptions, listen } from "./front.ts"

await listen(frontOptions.parse(workerData))
parentPort?.postMessage("listening")
