import { describe, expect, it } from "vitest"
import { EXPECTED_NETWORK_ATTACK_OUTCOMES } from "../../container/sandbox/tiers/network-test.ts"
import { SANDBOX_ATTACK_NAMES } from "../../container/sandbox/tiers/self-test.ts"
import {
  TEST_IMAGE,
  runDocker,
  startContainer,
  runScriptInContainer,
} from "../../scripts/image/docker.ts"
import { makeTempFolder } from "../../scripts/cli/temp-folder.ts"
import { PROTOCOL_HEADER, PROTOCOL_VERSION } from "../../src/contract/protocol.ts"
import { healthOf, refusedOf } from "./container-health.ts"
import { openHiding } from "./hidden.ts"
import { makeSkipSuffix, generateSpeech, explainMissingFlite } from "../support/media/speech.ts"

const LOCKED = (
  "--read-only --tmpfs /work --tmpfs /tmp --cap-drop ALL " +
  "--security-opt no-new-privileges --network none"
).split(" ")

const TRACES = ["traces_outside", "traces_on_the_network"]
const LACK = await explainMissingFlite()

/** Prints what is said in a file, by the model of the image. */
const TRANSCRIBE = `
from faster_whisper import WhisperModel
model = WhisperModel("/opt/models/base", device="cpu", compute_type="int8", local_files_only=True)
segments, info = model.transcribe("/work/speech.wav", vad_filter=True)
print(info.language, *(segment.text for segment in segments))
`

describe("the image", () => {
  it.for([
    ["with Docker's defaults", []],
    ["read-only, without capabilities or a network", LOCKED],
  ] as const)("withstands all attacks %s", async ([, options]) => {
    await using container = await startContainer([...options])
    const { sandbox, isHealthy } = await healthOf(container.id, "all-attacks")
    expect(isHealthy).toBe(true)
    expect(sandbox).toMatchObject({ ok: true, problem: null, network_problem: null })
    expect(["landlock", "namespaces"]).toContain(sandbox.tier)
    expect(refusedOf(sandbox.attacks)).toEqual([...SANDBOX_ATTACK_NAMES, ...TRACES])
    expect(refusedOf(sandbox.network_attacks)).toEqual(
      Object.keys(EXPECTED_NETWORK_ATTACK_OUTCOMES),
    )
  })

  it("passes its self-test on a quarter of a processor", async () => {
    await using container = await startContainer(["--cpus", "0.25"])
    const { sandbox } = await healthOf(container.id)
    expect(sandbox).toMatchObject({ ok: true, problem: null, network_problem: null })
    const log = await runDocker("logs", container.id)
    expect(log).not.toContain("sandbox.refused")
    expect(log.match(/"event":"sandbox.chosen"/g)).toHaveLength(1)
  })

  it("refuses tasks on a kernel without a sandbox, and reports it in its health", async () => {
    await using hiding = await openHiding("landlock and namespaces")
    await using container = await startContainer(hiding.options)
    const { sandbox, isHealthy } = await healthOf(container.id)
    expect(isHealthy).toBe(false)
    expect(sandbox).toMatchObject({ ok: false, tier: "none" })
    expect(sandbox.problem).toMatch(/no Landlock, no namespaces/)
    const answer = await runScriptInContainer(
      container.id,
      `const answer = await fetch("http://127.0.0.1:8788/tasks",
         { method: "POST", body: "{}", headers: { "${PROTOCOL_HEADER}": "${PROTOCOL_VERSION}",
             authorization: "Bearer " + process.env.RUNNER_TOKEN } })
       console.log(answer.status, await answer.text())`,
    )
    expect(answer).toBe('503 {"error":"unsandboxed"}')
  })

  it("lets its user write only to its folders for work and temporary files", async () => {
    await using container = await startContainer()
    await healthOf(container.id)
    const find = "find / -xdev -writable -not -type l -not -path '/proc/*' -not -path '/dev/*'"
    const writable = await runDocker("exec", container.id, "sh", "-c", `${find} 2>/dev/null; true`)
    const places = ["/run/lock", "/tmp", "/var/tmp", "/work"]
    expect(writable.split("\n").toSorted()).toEqual(places)
    expect(await runDocker("exec", container.id, "id", "-u")).toBe("10001")
  })

  it("has ffmpeg 7.1.5 or newer with local protocols only, and Japanese fonts", async () => {
    await using container = await startContainer()
    const { ffmpeg } = await healthOf(container.id)
    const [major = 0, minor = 0, patch = 0] = ffmpeg.split(/[.-]/).map(Number)
    expect(major * 10_000 + minor * 100 + patch).toBeGreaterThanOrEqual(70_105)
    const protocols = await runDocker("exec", container.id, "ffmpeg", "-hide_banner", "-protocols")
    expect([...new Set(protocols.match(/^  \S+$/gm))].toSorted()).toEqual(
      ["concat", "crypto", "file", "pipe"].map((name) => `  ${name}`),
    )
    const fonts = await runDocker("exec", container.id, "fc-list", ":lang=ja", "family")
    expect(fonts).not.toBe("")
  })

  it.skipIf(LACK !== null)(
    `transcribes speech without a network${makeSkipSuffix(LACK)}`,
    async () => {
      await using folder = await makeTempFolder("speech")
      const text = "The quick brown fox jumps over the lazy dog."
      const path = await generateSpeech(folder.path, { text })
      await using container = await startContainer(["--network", "none"])
      await runDocker("cp", path, `${container.id}:/work/speech.wav`)
      const words = ["/opt/speech/bin/python", "-I", "-c", TRANSCRIBE]
      const said = await runDocker("exec", container.id, ...words)
      expect(said.toLowerCase()).toContain("quick brown fox jumps over the lazy dog")
    },
  )

  it("contains no secret, and only the sources that it runs", async () => {
    await using container = await startContainer()
    expect(await runDocker("exec", container.id, "ls", "-A", "/app")).toBe(
      ["container", "node_modules", "package.json", "src"].join("\n"),
    )
    const environment = await runDocker(
      "image",
      "inspect",
      "--format",
      "{{.Config.Env}}",
      TEST_IMAGE,
    )
    expect(environment).toContain("RUNNER_HOST=0.0.0.0")
    expect(environment).not.toMatch(/SECRET|TOKEN|PASSWORD/)
  })

  it("refuses requests without its token, and does not start without RUNNER_TOKEN", async () => {
    await using container = await startContainer()
    await healthOf(container.id)
    const answer = await runScriptInContainer(
      container.id,
      `const answer = await fetch("http://127.0.0.1:8788/health",
         { headers: { "${PROTOCOL_HEADER}": "${PROTOCOL_VERSION}" } })
       console.log(answer.status, await answer.text())`,
    )
    expect(answer).toBe('401 {"error":"token"}')
    await expect(runDocker("run", "--rm", TEST_IMAGE)).rejects.toThrow("RUNNER_TOKEN is not set")
  })

  it("exits within two seconds of SIGTERM while idle", async () => {
    await using container = await startContainer()
    await healthOf(container.id)
    const beganMs = performance.now()
    await runDocker("stop", "--time", "15", container.id)
    expect(performance.now() - beganMs).toBeLessThan(2000)
    expect(await runDocker("inspect", "--format", "{{.State.ExitCode}}", container.id)).toBe("0")
  })
})
