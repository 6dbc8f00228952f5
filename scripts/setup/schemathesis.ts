import { join } from "node:path"
import { environmentFolder, pythonEnvironment } from "./python-environment.ts"

const NAME = "schemathesis"

/** Path of the program, once the step is done. */
export const SCHEMATHESIS_PATH = join(environmentFolder(NAME), "bin", NAME)

/** schemathesis, which tests alone use. */
export const schemathesis = pythonEnvironment({
  name: NAME,
  neededFor: "The tests of the API's description need",
  proof: [NAME, "--version"],
})
