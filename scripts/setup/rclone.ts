import { join } from "node:path"
import { environmentFolder, pythonEnvironment } from "./python-environment.ts"

const NAME = "rclone"

/** Path of the program, once the step is done. */
export const RCLONE_PATH = join(environmentFolder(NAME), "bin", NAME)

/** rclone, whose S3 server tests alone use. */
export const rclone = pythonEnvironment({
  name: NAME,
  neededFor: "The tests of inputs in stores need",
  proof: [NAME, "version"],
})
