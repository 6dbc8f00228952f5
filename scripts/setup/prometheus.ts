import { join } from "node:path"
import { environmentFolder, pythonEnvironment } from "./python-environment.ts"

const NAME = "prometheus"

/** The Python of an environment with Prometheus' own parser of its text format, once the step is done. */
export const PROMETHEUS_PYTHON_PATH = join(environmentFolder(NAME), "bin", "python")

/** Prometheus' client for Python, which tests alone use. */
export const prometheus = pythonEnvironment({
  name: NAME,
  neededFor: "The tests of /metrics need",
  proof: ["python", "-c", "import prometheus_client"],
})
