import { parentPort, workerData } from "node:worker_threads"
import { frontOptions, listen } from "./front.ts"

const front = await listen(frontOptions.parse(workerData))
parentPort?.once("message", () => front.open())
parentPort?.postMessage("listening")
