import { afterEach, expect, test, vi } from "vitest"
import { CliError } from "../../../scripts/cli/cli-error.ts"
import { ensureSetupSteps, runOptionalSetupStep } from "../../../scripts/setup/step.ts"

const STEP = {
  name: "a tool",
  advice: "Install the tool.",
  isDone: () => Promise.resolve(false),
  canMake: () => Promise.resolve(true),
  make: () => Promise.reject(new CliError("The tool could not be installed.")),
}

afterEach(() => {
  vi.restoreAllMocks()
})

test("a failed step that the service needs stops the set-up", async () => {
  vi.spyOn(console, "error").mockImplementation(() => undefined)
  await expect(ensureSetupSteps([STEP])).rejects.toThrow("The tool could not be installed.")
  const impossible = { ...STEP, canMake: () => Promise.resolve(false) }
  await expect(ensureSetupSteps([impossible])).rejects.toThrow("Install the tool.")
})

test("an optional step reports the missing function", async () => {
  const said = vi.spyOn(console, "error").mockImplementation(() => undefined)
  expect(await runOptionalSetupStep(STEP, "Lathe continues without it.")).toBe(false)
  const sentence = "The tool could not be installed.\nLathe continues without it."
  expect(said).toHaveBeenLastCalledWith(sentence)
  const done = { ...STEP, isDone: () => Promise.resolve(true) }
  expect(await runOptionalSetupStep(done, "Lathe continues without it.")).toBe(true)
  const broken = { ...STEP, make: () => Promise.reject(new Error("a fault")) }
  await expect(runOptionalSetupStep(broken, "")).rejects.toThrow("a fault")
})
