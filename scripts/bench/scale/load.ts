import { setTimeout as sleep } from "node:timers/promises"
import pMap from "p-map"
import { z } from "zod"
import { fileBody, jsonBody, openCaller } from "../../local/client/caller.ts"
import type { Answer, Caller } from "../../local/client/caller.ts"

/** Of ten jobs four are uploads with their probe and six are commands, of which two have a webhook. */
const TURNS = 10
const UPLOADS = 4
const WEBHOOKS = 2
/** So many jobs are under way at once, and as many more as end in some seconds, up to a limit. */
const UNDER_WAY = { least: 8, seconds: 2, most: 256 }
const PAUSE_MS = 5
const MAKERS = 8
const MEDIA = Buffer.from("not a film")

const made = z.object({ id: z.string().optional(), command_id: z.string().optional() })

type Account = { key: string; fileId: string }

/** What became of a load. */
export type LoadFacts = {
  submitted: number
  withWebhook: number
  refused: number
  /** From the sending of a create to its answer, in milliseconds. */
  submitMs: number[]
  /** How long jobs were submitted. */
  tookMs: number
}

type Sent = { id: string; sentAt: number }
type Tally = Omit<LoadFacts, "tookMs">

/** Callers of many accounts, and their jobs; `ended` are the ids of those that are over. */
export function openLoad(origin: string, receiver: string, ended: ReadonlySet<string>) {
  const caller = openCaller(origin)
  const handedAt = new Map<string, number>()
  const sent: Sent[] = []
  const accounts: Account[] = []
  return {
    /** The runner was handed a task of this job. */
    note: (jobId: string) => void handedAt.set(jobId, performance.now()),
    close: () => caller.close(),
    /** Milliseconds from creates to the runner's having their tasks; whole once nothing is open. */
    waitsMs: () => waitsOf(sent, handedAt),
    /** Has each key upload a file, which its commands read. */
    async prepare(keys: string[]): Promise<void> {
      async function addAccount(key: string): Promise<void> {
        const fileId = idOf(await upload(caller, key))
        while (!ended.has(fileId)) await sleep(PAUSE_MS)
        accounts.push({ key, fileId })
      }
      await pMap(keys, addAccount, { concurrency: MAKERS })
    },
    /** Submits jobs of all accounts in turn, so many a minute, for some seconds. */
    async run({ rate, seconds }: { rate: number; seconds: number }): Promise<LoadFacts> {
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

function waitsOf(sent: readonly Sent[], handedAt: ReadonlyMap<string, number>): number[] {
  return sent.flatMap(({ id, sentAt }) => {
    const at = handedAt.get(id)
    return at === undefined ? [] : [at - sentAt]
  })
}

/**
 * How many jobs may be under way: a service that has as many as a minute's work would only have them
 * wait until leases expire.
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

async function upload(caller: Caller, key: string): Promise<Answer> {
  const body = fileBody("clip.mp4", { sizeBytes: MEDIA.length, chunks: [MEDIA] })
  return await caller.ask("POST", "/v1/files", body, { "x-api-key": key })
}

async function command(
  caller: Caller,
  { key, fileId }: Account,
  webhook: string | null,
): Promise<Answer> {
  const order = {
    ffmpeg_command: "ffmpeg -i {{in_1}} -c copy {{out_1}}",
    input_files: { in_1: `svc_id://${fileId}` },
    output_files: { out_1: "out.mp4" },
    ...(webhook !== null && { webhook }),
  }
  return await caller.ask("POST", "/v1/commands", jsonBody(order), { "x-api-key": key })
}

function idOf({ text }: Answer): string {
  const { id, command_id: commandId } = made.parse(JSON.parse(text))
  return id ?? commandId ?? ""
}
