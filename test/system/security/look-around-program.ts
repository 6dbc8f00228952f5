import { startServiceProcess } from "../../../scripts/cli/service-process.ts"
import { openAccount } from "../../corpus/account.ts"

const HEADER_BYTES = 44

// Starts the service of a folder with a tool that looks around, and prints what both said.
const [stateDir = "", folder = "", tool = ""] = process.argv.slice(2)
const settings = { FFMPEG_PATH: tool, RUNNER_CAPACITY: "1" }
await using service = await startServiceProcess({ stateDir, folder, settings, echoesErrors: true })
const account = openAccount(service.origin, await service.makeKey("one"))
const { record, refused } = await account.run({
  ffmpeg_command: "ffmpeg -f lavfi -i sine=d=1 {{out_1}}",
  input_files: {},
  output_files: { out_1: "seen.wav" },
})
const output = record?.output_files["out_1"]
if (typeof output !== "object") throw new Error(JSON.stringify(record ?? refused))
const bytes = await account.download(output.download_url)
const seen: unknown = JSON.parse(new TextDecoder().decode(bytes.subarray(HEADER_BYTES)))
console.log(JSON.stringify({ seen, said: service.tail().stdout.split("\n") }))
