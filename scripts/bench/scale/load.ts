import { setTimeout as sleep } from "node:timers/promises"
import pMap from "p-map"
import { z } from "zod"
import { makeFileBody, makeJsonBody, createApiCaller } from "../../cli/client/caller.ts"
import type { CallerResponse, ApiCaller } from "../../cli/client/caller.ts"

/**
 * Mix of jobs: of ten jobs, four are uploads with a probe, and six are commands, two of them with a
 * webhook.
 */
const TURNS = 10
const UPLOADS = 4
const WEBHOOKS = 2
/**
 * Maximum number of open jobs: at least 8, plus the number of jobs that end in two seconds, and at
 * most 256.
 */
const UNDER_WAY = { least: 8, seconds: 2, most: 256 }
const PAUSE_MS = 5
const MAKERS = 8
const MEDIA = Buffer.from("not a film")

const accepted = z.object({ id: z.string().optional(), command_id: z.string().optional() })

type Account = { key: string; fileId: string }

/** Counts and times of a load. */
export type JobLoadResult = {
  submitted: number
  withWebhook: number
  refused: number
  /** Times from sending a request that creates a job to the response, in milliseconds. */
  submitMs: number[]
  /** Time that the submission of all jobs took, in milliseconds. */
  tookMs: number
}

type SentJob = { id: string; sentAt: number }
type Tally = Omit<JobLoadResult, "tookMs">

/**
 * Prepares a load of jobs that many accounts create. `ended` is a set to which the simulated runner
 * adds the id of each job that ends.
 */
export function startJobLoad(origin: string, receiver: string, ended: ReadonlySet<string>) {
  const caller = createApiCaller(origin)
  const handedAt = new Map<string, number>()
  const sent: SentJob[] = []
  const accounts: Account[] = []
  return {
    /** Records the time at which the runner got a task of a job. */
    note: (jobId: string) => void handedAt.set(jobId, performance.now()),
    close: () => caller.close(),
    /**
     * Returns the time from sending each request that creates a job until the runner got the job's
     * task, in milliseconds.
     */
    waitsMs: () => waitsOf(sent, handedAt),
    /** Uploads a file with each API key. The commands of the key's account read that file. */
    async prepare(keys: string[]): Promise<void> {
      async function addAccount(key: string): Promise<void> {
        const fileId = idOf(await upload(caller, key))
        while (!ended.has(fileId)) await sleep(PAUSE_MS)
        accounts.push({ key, fileId })
      }
      await pMap(keys, addAccount, { concurrency: MAKERS })
    },
    /** Submits `rate` jobs per minute for some seconds, for all accounts in turn. */
    async run({ rate, seconds }: { rate: number; seconds: number }): Promise<JobLoadResult> {
      const tally: Tally = { submitted: 0, withWebhook: 0, refused: 0, submitMs: [] }
      const endedBefore = ended.size
      const startedAt = performance.now()
      const pace = openPace(ended)
      const open: Promise<void>[] = []
      for (let turn = 0; ; turn += 1) {
        await sleep(Math.max(0, startedAt + (turn * 60_000) / rate - performance.now()))
        while (turn - tally.refused - (ended.size - endedBefore) >= pace.underWayMax()) {
          await sleep(PAUSE_MS)
        }
        if (performance.now() - startedAt >= seconds * 1000) break
        open.push(submit(turn, tally))
      }
      const tookMs = performance.now() - startedAt
      await Promise.all(open)
      return { ...tally, tookMs }
    },
  }

  async function submit(turn: number, tally: Tally): Promise<void> {
    const account = accounts[turn % accounts.length]
    if (!account) throw new Error("there is no account")
    const sentAt = performance.now()
    const isUpload = turn % TURNS < UPLOADS
    const webhook = turn % TURNS >= TURNS - WEBHOOKS ? receiver : null
    try {
      const sending = isUpload ? upload(caller, account.key) : command(caller, account, webhook)
      const answer = await sending
      tally.submitMs.push(performance.now() - sentAt)
      sent.push({ id: idOf(answer), sentAt })
      tally.submitted += 1
      if (webhook !== null) tally.withWebhook += 1
    } catch (error) {
      tally.refused += 1
      if (tally.refused === 1) console.error("a create was refused:", String(error))
    }
  }
}

function waitsOf(sent: readonly SentJob[], handedAt: ReadonlyMap<string, number>): number[] {
  return sent.flatMap(({ id, sentAt }) => {
    const at = handedAt.get(id)
    return at === undefined ? [] : [at - sentAt]
  })
}

/**
 * Limits the number of open jobs by the rate at which jobs end. A slow service then gets no more
 * jobs than it can process before it takes silent runs for dead (their leases expire).
 */
function openPace(ended: ReadonlySet<string>) {
  let [lookedAt, endedThen, perSecond] = [performance.now(), ended.size, 0]
  return {
    underWayMax(): number {
      const now = performance.now()
      if (now - lookedAt >= 1000) {
        perSecond = ((ended.size - endedThen) * 1000) / (now - lookedAt)
        lookedAt = now
        endedThen = ended.size
      }
      return Math.min(UNDER_WAY.least + UNDER_WAY.seconds * perSecond, UNDER_WAY.most)
    },
  }
}

async function upload(caller: ApiCaller, key: string): Promise<CallerResponse> {
  const body = makeFileBody("clip.mp4", { sizeBytes: MEDIA.length, chunks: [MEDIA] })
  return await caller.ask("POST", "/v1/files", body, { "x-api-key": key })
}

async function command(
  caller: ApiCaller,
  { key, fileId }: Account,
  webhook: string | null,
): Promise<CallerResponse> {
  const order = {
    ffmpeg_command: "ffmpeg -i {{in_1}} -c copy {{out_1}}",
    input_files: { in_1: `svc_id://${fileId}` },
    output_files: { out_1: "out.mp4" },
    ...(webhook !== null && { webhook }),
  }
  return await caller.ask("POST", "/v1/commands", makeJsonBody(order), { "x-api-key": key })
}

function idOf({ text }: CallerResponse): string {
  const { id, command_id: commandId } = accepted.parse(JSON.parse(text))
  return id ?? commandId ?? ""
}
