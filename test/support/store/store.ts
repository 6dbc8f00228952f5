import { spawn } from "node:child_process"
import type { ChildProcess } from "node:child_process"
import { once } from "node:events"
import { mkdir } from "node:fs/promises"
import { join } from "node:path"
import { AwsClient } from "aws4fetch"
import waitFor from "p-wait-for"
import { findFreePort } from "../../../scripts/cli/ports.ts"
import { makeTempFolder } from "../../../scripts/cli/temp-folder.ts"
import { RCLONE_PATH } from "../../../scripts/setup/test-tools.ts"
import { encodeS3Key } from "../../../src/contract/urls/s3-url.ts"

const START_MS_MAX = 20_000

export const S3_TEST_CREDENTIALS = {
  access_key_id: "TESTACCESSKEY",
  secret_access_key: "a-secret-access-key-that-nobody-sees",
}

/**
 * S3 server with one bucket. The server checks the signatures of requests. Tests can kill the
 * server and start it again.
 */
export type S3TestServer = AsyncDisposable & {
  endpoint: string
  port: number
  bucket: string
  put(key: string, body: Uint8Array<ArrayBuffer>): Promise<void>
  kill(): Promise<void>
  start(): Promise<void>
}

/** Starts rclone's S3 server with a folder of its own. */
export async function startS3TestServer(bucket: string): Promise<S3TestServer> {
  await using started = new AsyncDisposableStack()
  const { path } = started.use(await makeTempFolder("store"))
  await mkdir(join(path, "buckets", bucket), { recursive: true })
  const port = await findFreePort()
  const endpoint = `http://127.0.0.1:${port}`
  let child: ChildProcess | null = null
  async function start(): Promise<void> {
    const { access_key_id, secret_access_key } = S3_TEST_CREDENTIALS
    const words = ["serve", "s3", join(path, "buckets"), "--addr", `127.0.0.1:${port}`]
    const keys = ["--auth-key", `${access_key_id},${secret_access_key}`]
    child = spawn(RCLONE_PATH, [...words, ...keys, "--config", join(path, "none")], {
      env: { HOME: path },
      stdio: "ignore",
    })
    await waitFor(() => answers(endpoint), { timeout: START_MS_MAX, interval: 50 })
  }
  async function kill(): Promise<void> {
    if (!child) return
    const gone = once(child, "exit")
    child.kill("SIGKILL")
    await gone
    child = null
  }
  started.defer(kill)
  await start()
  const client = new AwsClient({
    accessKeyId: S3_TEST_CREDENTIALS.access_key_id,
    secretAccessKey: S3_TEST_CREDENTIALS.secret_access_key,
    service: "s3",
    region: "us-east-1",
  })
  const running = started.move()
  return {
    endpoint,
    port,
    bucket,
    kill,
    start,
    async put(key, body) {
      const url = `${endpoint}/${bucket}/${encodeS3Key(key)}`
      const answer = await client.fetch(url, { method: "PUT", body })
      if (!answer.ok) throw new Error(`${key}: ${answer.status} ${await answer.text()}`)
    },
    [Symbol.asyncDispose]: async () => await running.disposeAsync(),
  }
}

async function answers(endpoint: string): Promise<boolean> {
  return await fetch(endpoint).then(
    () => true,
    () => false,
  )
}
