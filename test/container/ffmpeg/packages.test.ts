import { existsSync } from "node:fs"
import { expect, test } from "vitest"
import {
  findBuildPackages,
  findRuntimePackages,
} from "../../../container/ffmpeg/debian-packages.ts"

const LACK = existsSync("/usr/bin/apt-cache") ? "" : ": apt is not here"

test.skipIf(LACK !== "")(`lists the packages that a build needs${LACK}`, async () => {
  expect(await findBuildPackages()).toEqual(expect.arrayContaining(["gcc", "nasm", "libx264-dev"]))
})

test.skipIf(LACK !== "")(
  `finds the packages of the libraries that a program loads${LACK}`,
  async () => {
    expect(await findRuntimePackages(["/bin/ls"])).toEqual(
      expect.arrayContaining(["libc6", "libselinux1"]),
    )
  },
)
