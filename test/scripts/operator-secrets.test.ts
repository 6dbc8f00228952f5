import { execFile } from "node:child_process"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { findFreePort } from "../../scripts/cli/ports.ts"
import { secretNames, settingNames } from "../../src/bindings/settings.ts"

test("secrets of the operator are no settings, which configurations and outputs contain", () => {
  expect(settingNames.filter((name) => secretNames.some((each) => each === name))).toEqual([])
})

test("the start names invalid secrets without their values", async () => {
  const stateDir = await mkdtemp(join(tmpdir(), "lathe-state-"))
  onTestFinished(async () => await rm(stateDir, { recursive: true }))
  const { exitCode, output } = await start({
    STATE_DIR: stateDir,
    PORT: String(await findFreePort()),
    FETCH_COOKIES: "session=a-session-that-nobody-sees",
    FETCH_PROXY: "socks5://user:a-password-that-nobody-sees@127.0.0.1:9",
    YTDLP_VERSION: "latest",
    S3_SOURCES: '[{"bucket": "films", "secret_access_key": "that-nobody-sees",]',
  })
  expect(exitCode).toBe(1)
  expect(output).toContain(
    "A setting is invalid. FETCH_COOKIES: expected cookies in Netscape's format",
  )
  expect(output).toContain("FETCH_PROXY: expected an http:// URL.")
  expect(output).toContain("YTDLP_VERSION: expected one version and the SHA-256 of its wheel")
  expect(output).toContain("S3_SOURCES: expected a JSON list of objects with bucket, endpoint,")
  expect(output).not.toContain("that-nobody-sees")
})

async function start(more: Record<string, string>): Promise<{ exitCode: number; output: string }> {
  const env = { ...process.env, ...more }
  return await new Promise((settle) => {
    const child = execFile(
      process.execPath,
      ["scripts/start/main.ts"],
      { env },
      (_error, out, err) => {
        settle({ exitCode: child.exitCode ?? 0, output: out + err })
      },
    )
  })
}
