import { expect, it } from "vitest"
import { runDocker, startContainer } from "../../scripts/image/docker.ts"
import { runDirectly } from "./run-directly.ts"

const INSTANCE = ["--memory", "1g", "--memory-swap", "1g"]
/** Keeps about 25 MB a picture, of 40 s. */
const HUNGRY = "-f lavfi -i testsrc2=s=4096x4096:r=25 -t 40 -vf reverse -f null out.bin".split(" ")
const FRUGAL = "-f lavfi -i testsrc2=s=64x64:r=25 -t 1 -c:v mpeg4 -f mp4 out.bin".split(" ")

it("kills a tool that exceeds the memory of the instance, and keeps serving", async () => {
  await using container = await startContainer(INSTANCE)
  const failed = await runDirectly(container.id, HUNGRY)
  expect(failed).toContain('"kind":"failed"')
  expect(failed).toContain('"code":"out_of_memory"')
  const format = "{{.State.Running}} {{.State.OOMKilled}} {{.RestartCount}}"
  expect(await runDocker("inspect", "--format", format, container.id)).toBe("true false 0")
  expect(await runDirectly(container.id, FRUGAL)).toContain('"kind":"finished"')
})
