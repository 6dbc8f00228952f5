import { expect, it } from "vitest"
import { startNodeProgram, waitForReadyLine } from "../../../scripts/cli/program.ts"

function start(code: string, signal?: AbortSignal) {
  const environment = { PATH: process.env["PATH"] }
  return startNodeProgram({ words: ["--eval", code], environment, signal })
}

it("returns the line of a program that is ready, and ends the program with its scope", async () => {
  const program = start('console.log("waking"); console.log("ready 7"); setInterval(() => 0, 1000)')
  expect(await waitForReadyLine(program, /^ready/)).toBe("ready 7")
  expect(program.tail().stdout).toBe("waking\nready 7")
  await program[Symbol.asyncDispose]()
  expect(await program.exited).toBe("SIGTERM")
  await program[Symbol.asyncDispose]()
})

it("reports the stderr of a program that ends before it is ready", async () => {
  await using program = start('console.log("waking"); console.error("No port."); process.exit(3)')
  await expect(waitForReadyLine(program, /^ready/)).rejects.toThrow("No port.")
  expect(await program.exited).toBe(3)
})

it("reports the exit code of a silent program", async () => {
  await using program = start("process.exit(3)")
  await expect(waitForReadyLine(program, /^ready/)).rejects.toThrow(
    "The program ended with 3 before it was ready.",
  )
})

it("ends a program when its signal aborts", async () => {
  const controller = new AbortController()
  await using program = start("setInterval(() => 0, 1000)", controller.signal)
  controller.abort()
  expect(await program.exited).toBe("SIGTERM")
})
