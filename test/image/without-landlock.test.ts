import { chmod, mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { EXPECTED_NETWORK_ATTACK_OUTCOMES } from "../../container/sandbox/tiers/network-test.ts"
import { SANDBOX_ATTACK_NAMES } from "../../container/sandbox/tiers/self-test.ts"
import { runDocker, startContainer } from "../../scripts/image/docker.ts"
import { makeTempFolder } from "../../scripts/cli/temp-folder.ts"
import { fetchTaskDefinition } from "../../src/contract/tasks/fetch.ts"
import { isLight } from "../corpus/attack.ts"
import type { Attack } from "../corpus/attack.ts"
import { makeCanaryMedia } from "../corpus/canary-media.ts"
import { makeMarker, openCanaries } from "../corpus/canaries.ts"
import type { Canaries } from "../corpus/canaries.ts"
import { ATTACKS } from "../corpus/hostile-commands.ts"
import { attackBare, attackInside, openRunner } from "./attack-runner.ts"
import type { AttackedRunner, AttackEvidence } from "./attack-runner.ts"
import { healthOf, refusedOf } from "./container-health.ts"
import { SITE, fetchDirectly } from "./fetch-directly.ts"
import { openHiding } from "./hidden.ts"

const LOCKED = (
  "--read-only --tmpfs /work --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges " +
  "--network none"
).split(" ")
const TRACES = ["traces_outside", "traces_on_the_network"]
/** Attacks for which the image's ffmpeg has no code. */
const IMPOSSIBLE = ["opening a connection", "running code"]

const opened = new AsyncDisposableStack()
let hiding: Awaited<ReturnType<typeof openHiding>>

beforeAll(async () => {
  hiding = opened.use(await openHiding("landlock"))
})

afterAll(async () => await opened.disposeAsync())

describe("the image on a kernel without Landlock", () => {
  it.for([
    ["with Docker's defaults", []],
    ["read-only, without capabilities or a network", LOCKED],
    ["on a quarter of a processor", ["--cpus", "0.25"]],
    ["as root", ["--user", "0"]],
  ] as const)("withstands all attacks %s", async ([, options]) => {
    await using container = await startContainer([...hiding.options, ...options])
    const { sandbox, isHealthy } = await healthOf(container.id, "all-attacks")
    expect(isHealthy).toBe(true)
    expect(sandbox).toMatchObject({ tier: "mounts", problem: null, network_problem: null })
    expect(sandbox.loss).toMatch(/^Tools run without Landlock/)
    expect(refusedOf(sandbox.attacks)).toEqual([...SANDBOX_ATTACK_NAMES, ...TRACES])
    expect(refusedOf(sandbox.network_attacks)).toEqual(
      Object.keys(EXPECTED_NETWORK_ATTACK_OUTCOMES),
    )
    expect(await runDocker("logs", container.id)).not.toContain("sandbox.refused")
  })

  it("fetches a page and reaches nothing private", async () => {
    const allowed = ["--env", `ALLOWED_PRIVATE_HOSTS=${SITE}`]
    await using container = await startContainer([...allowed, ...hiding.options])
    const fetched = await fetchDirectly(container.id, "/watch")
    if (fetched.report.kind !== "finished") throw new Error(JSON.stringify(fetched.report))
    expect(fetchTaskDefinition.result.parse(fetched.report.result)).toMatchObject({
      title: "A clip",
    })
    const inside = await fetchDirectly(container.id, "/inside")
    expect(inside).toMatchObject({ isPrivateReached: false, storedBytes: 0 })
    expect(inside.report).toMatchObject({ failure: { code: "url_not_allowed" } })
  })
})

describe("the image on a kernel without Landlock, for commands that skip the policy", () => {
  const [neighbour, stored] = [makeMarker(), makeMarker()]
  let runner: AttackedRunner
  let media: Record<string, Uint8Array>

  beforeAll(async () => {
    media = await makeCanaryMedia()
    const { path } = opened.use(await makeTempFolder("attacked"))
    const folders = { work: join(path, "work"), state: join(path, "state") }
    await chmod(path, 0o711)
    await mkdir(join(folders.work, "theirs"), { recursive: true })
    await mkdir(folders.state)
    for (const folder of Object.values(folders)) await chmod(folder, 0o1777)
    await writeFile(join(folders.work, "theirs/in_1.txt"), neighbour)
    await writeFile(join(folders.state, "secrets.json"), stored)
    runner = opened.use(await openRunner(folders, hiding.options))
    expect(await healthOf(runner.id)).toMatchObject({ sandbox: { tier: "mounts" } })
  })

  /** Harm that an attack did, by its evidence; empty if the sandbox held. */
  async function harmOf(attack: Attack, canaries: Canaries, { evidence, isDone }: AttackEvidence) {
    const isShown = attack.harm === "picture" && isLight(Buffer.from(evidence["out.bin"] ?? ""))
    return [
      ...(await canaries.damage(evidence)),
      ...(attack.harm === "success" && isDone ? ["it succeeded"] : []),
      ...(isShown ? ["it shows part of the file"] : []),
    ]
  }

  async function open(): Promise<Canaries> {
    return await openCanaries({ ...runner.folders, media }, [neighbour, stored])
  }

  it("runs a harmless command", async () => {
    const harmless = { name: "harmless", words: () => "-f lavfi -i sine=d=0.1 -f u8 out_1" }
    await using canaries = await open()
    const { evidence, isDone } = await attackInside(runner, harmless, canaries.place)
    expect({ isDone, bytes: evidence["out.bin"]?.length }).toEqual({ isDone: true, bytes: 4410 })
  })

  describe.for(Object.entries(ATTACKS))("prevents %s", ([group, attacks]) => {
    let fired = 0

    it.for(attacks.map((attack) => [attack.name, attack] as const))("by %s", async ([, attack]) => {
      await using around = await open()
      const bare = await attackBare(runner, attack, around.place)
      if ((await harmOf(attack, around, bare)).length > 0) fired += 1
      await using canaries = await open()
      const inside = await attackInside(runner, attack, canaries.place)
      expect(await harmOf(attack, canaries, inside)).toEqual([])
    })

    afterAll(() => {
      // The same commands do harm where no sandbox is around the image's ffmpeg.
      if (!IMPOSSIBLE.includes(group)) expect(2 * fired).toBeGreaterThan(attacks.length)
    })
  })
})
