import { readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { z } from "zod"
import { BASE_IMAGE } from "../../../scripts/image/docker.ts"
import { wideTest } from "../../support/wide-test.ts"
import type { CloudflareStandIn } from "./cloudflare.ts"
import type { Machine } from "./deployment.ts"
import { useDeployment } from "./use-deployment.ts"

const configured = z.object({ image: z.string() })

let cloudflare: CloudflareStandIn
let machine: Machine
useDeployment((...started) => {
  ;[cloudflare, machine] = started
})

test("equal pools share an image by its digest, and only the latest and the previous image stay", async () => {
  const first = await machine.deploy()
  expect(first.output).toContain(`with images on ${BASE_IMAGE}@sha256:${"0".repeat(63)}5`)
  const builds = readFileSync(join(machine.folder, "docker-images/words"), "utf8")
    .trim()
    .split("\n")
  expect(builds).toHaveLength(2)
  expect(builds[0]).toContain(`--build-arg BASE=${BASE_IMAGE}@sha256:`)
  const [media, light, fetches, lookup, speech] = imagesOf()
  expect(media).toMatch(
    /^registry\.cloudflare\.com\/account-1\/lathe-media-runner@sha256:[\da-f]{64}$/,
  )
  expect([light, fetches, lookup]).toEqual([media, media, media])
  expect(speech).toMatch(/\/lathe-speech-runner@sha256:/)
  expect(cloudflare.images.size).toBe(2)

  // Images of wrangler alone, and of others.
  cloudflare.images.set("account-1/lathe-light-runner:0a1b2c3d", `sha256:${"a".repeat(64)}`)
  cloudflare.images.set("account-1/somebody-else:1", `sha256:${"b".repeat(64)}`)
  const second = await machine.deploy([], { STAND_IN_BASE: "6" })
  expect(second.output).toContain("deleted the old images lathe-light-runner:0a1b2c3d")
  expect(imagesOf()).not.toContain(media)
  expect(digests()).toEqual(expect.arrayContaining([media, speech, ...imagesOf()].map(digestOf)))
  expect(namesOf()).toContain("somebody-else")
})

wideTest(
  "a deployment of settings alone deletes no image, and a third base deletes the images of the first",
  async () => {
    await machine.deploy()
    const first = imagesOf()
    await machine.deploy([], { STAND_IN_BASE: "6" })
    const second = imagesOf()
    await machine.deploy([], { STAND_IN_BASE: "6", RUN_SECONDS_MAX: "60" })
    expect(imagesOf()).toEqual(second)
    expect(digests()).toEqual(expect.arrayContaining(first.map(digestOf)))
    const third = await machine.deploy([], { STAND_IN_BASE: "7" })
    expect(third.output).toMatch(
      /deleted the old images lathe-media-runner:[\da-f]{12}, lathe-speech/,
    )
    const kept = new Set([...second, ...imagesOf()].map(digestOf))
    expect(new Set(digests())).toEqual(kept)
  },
)

wideTest("an image that an unfinished roll-out may still run stays", async () => {
  await machine.deploy()
  cloudflare.images.set("account-1/lathe-media-runner:old", `sha256:${"a".repeat(64)}`)
  for (const application of cloudflare.applications) application["active_rollout_id"] = "rolling"
  const { output, exitCode } = await machine.deploy([], { STAND_IN_BASE: "6" })
  expect(output).toContain("deployed version")
  expect(exitCode).toBe(0)
  expect([...cloudflare.images.keys()]).toContain("account-1/lathe-media-runner:old")
})

wideTest("the base of the last image is used if the registry does not respond", async () => {
  const refused = await machine.deploy([], { STAND_IN_BASE: "none" })
  expect(refused.output).toContain(`Docker cannot pull the base image ${BASE_IMAGE}`)
  expect(refused.exitCode).toBe(1)
  await machine.deploy()
  const { output, exitCode } = await machine.deploy([], { STAND_IN_BASE: "none" })
  expect(output).toContain("the base of the last image stays")
  expect(output).toContain("Worker and containers: unchanged, since this clone is deployed.")
  expect(exitCode).toBe(0)
})

test("every stage of the image begins from the base of the deployment", () => {
  const dockerfile = readFileSync("container/Dockerfile", "utf8")
  expect(dockerfile).toContain(`\nARG BASE=${BASE_IMAGE}\n`)
  const stages = [...dockerfile.matchAll(/^FROM (\S+)(?: AS (\S+))?/gm)]
  const names = new Set(stages.map(([, , name]) => name))
  const bases = stages.map(([, base]) => base ?? "").filter((base) => !names.has(base))
  expect(new Set(bases)).toEqual(new Set(["${BASE}", "runner-${SPEECH}-speech"]))
})

function imagesOf(): string[] {
  return cloudflare.applications.map(({ configuration }) => configured.parse(configuration).image)
}

function digestOf(image: string | undefined): string | undefined {
  return image?.split("@")[1]
}

function digests(): string[] {
  return [...cloudflare.images.values()]
}

function namesOf(): string[] {
  return [...cloudflare.images.keys()].map((image) => /\/([^:]+):/.exec(image)?.[1] ?? "")
}
