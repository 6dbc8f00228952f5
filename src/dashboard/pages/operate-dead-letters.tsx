import { Hono } from "hono"
import type { Child } from "hono/jsx"
import { notFound } from "../../http/problem.ts"
import { readDeadLetter } from "../../pipeline/upkeep/dead-letters.ts"
import type { LetterSubject } from "../../pipeline/upkeep/dead-letters.ts"
import { directoryOf } from "../../storage/database.ts"
import { deleteDeadLetter, listDeadLetters } from "../../storage/dead-letters.ts"
import type { DeadLetter } from "../../storage/schema/operations.ts"
import { StatusBadge } from "../components/badge.tsx"
import { Card } from "../components/card.tsx"
import { EmptyState } from "../components/empty-state.tsx"
import { Facts } from "../components/facts.tsx"
import { Pager } from "../components/pager.tsx"
import { Table } from "../components/table.tsx"
import { Time } from "../components/time.tsx"
import type { Pages } from "../context.ts"
import { redirectWith } from "../flash.ts"
import { showPage } from "../layout.tsx"
import { requireOperator } from "../operator.ts"

const PATH = "/operate/dead-letters"
const PAGE_SIZE = 50
/** No more are kept. */
const OFFSET_MAX = 1000
const LEAD =
  "Messages that were tried too often. What they were about is not lost: the sweep, which runs each minute, finds open jobs and due webhooks by themselves and sends another message. Each is kept for 30 days, the newest 1000 of them."

/** Messages of queues that nobody could take, for the operator. */
export const operateDeadLetters = new Hono<Pages>()

operateDeadLetters.get(PATH, requireOperator, async (c) => {
  const asked = Number.parseInt(c.req.query("offset") ?? "0", 10) || 0
  const offset = Math.min(Math.max(0, asked), OFFSET_MAX)
  const found = await listDeadLetters(directoryOf(c.env), { offset, limit: PAGE_SIZE + 1 })
  const hasMore = found.length > PAGE_SIZE
  return showPage(
    c,
    { title: "Dead letters", section: "dead-letters", lead: LEAD },
    <Card title="All dead letters">
      <Table
        caption="Dead letters"
        columns={["Received", "Queue", "About", "Actions"]}
        rows={found
          .slice(0, PAGE_SIZE)
          .map((letter) => [
            <Time at={letter.receivedAt} />,
            letter.queue,
            <a href={`${PATH}/${letter.id}`}>{describeQueue(letter.queue).subject}</a>,
            <DismissForm id={letter.id} />,
          ])}
        empty={
          <EmptyState title="No dead letters">
            <p>Every message was taken. One that cannot be would stand here.</p>
          </EmptyState>
        }
      />
      <Pager next={hasMore ? `${PATH}?offset=${offset + PAGE_SIZE}` : null} />
    </Card>,
  )
})

operateDeadLetters.get(`${PATH}/:id`, requireOperator, async (c) => {
  const read = await readDeadLetter(c.env, c.req.param("id"))
  if (!read) throw notFound("dead letter")
  const { letter, accountId, subjects } = read
  const { why, sweep } = describeQueue(letter.queue)
  return showPage(
    c,
    { title: "Dead letter", section: "dead-letters" },
    <>
      <Card title="The message" actions={<DismissForm id={letter.id} />}>
        <Facts
          rows={[
            ["Received", <Time at={letter.receivedAt} />],
            ["Queue", letter.queue],
            ["Id", letter.id],
            ["Account", accountLink(accountId)],
          ]}
        />
        <p>{why}</p>
        <p>{sweep}</p>
      </Card>
      <Card title="What it was about">
        <Table
          caption="What it was about"
          columns={["What", "Id", "State now"]}
          rows={subjects.map(({ type, id, state }) => [NAMES[type], id, <State of={state} />])}
          empty={
            <EmptyState title="It cannot be told">
              <p>The message has none of the forms that this version knows.</p>
            </EmptyState>
          }
        />
      </Card>
      <Card title="Its text">
        <pre>{bodyText(letter)}</pre>
      </Card>
    </>,
  )
})

operateDeadLetters.post(`${PATH}/:id/dismiss`, requireOperator, async (c) => {
  const isGone = await deleteDeadLetter(directoryOf(c.env), c.req.param("id"))
  return redirectWith(c, PATH, isGone ? "The dead letter is gone." : "It was gone already.")
})

const NAMES: Record<LetterSubject["type"], string> = { job: "Job", delivery: "Webhook" }

function State(props: { of: string | null }) {
  return props.of === null ? <>gone</> : <StatusBadge status={props.of} />
}

function DismissForm(props: { id: string }) {
  return (
    <form method="post" action={`${PATH}/${props.id}/dismiss`}>
      <button
        class="button quiet"
        data-confirm="Dismiss this dead letter? What it was about stays as it is."
      >
        Dismiss
      </button>
    </form>
  )
}

function accountLink(accountId: string | null): Child {
  if (accountId === null) return "It names none."
  return <a href={`/operate/accounts/${encodeURIComponent(accountId)}`}>{accountId}</a>
}

function bodyText({ body }: DeadLetter): string {
  return JSON.stringify(body, null, 2)
}

function describeQueue(queue: string): { subject: string; why: string; sweep: string } {
  if (queue.includes("webhooks")) {
    return {
      subject: "A webhook",
      why: "A webhook was due, and the consumer could not begin its try 4 times in a row: the Worker or D1 did not answer. A receiver that fails is none of this; its webhook has tries of its own.",
      sweep:
        "As long as the webhook waits, the sweep sends another message each minute from when its next try is due.",
    }
  }
  return {
    subject: "New tasks",
    why: "Tasks of a new job were to be queued, and the account's dispatcher did not take them 11 times in a row.",
    sweep:
      "As long as a job is open and no dispatcher has accepted it, the sweep sends another message each minute, and it wakes the dispatcher of every account with open jobs.",
  }
}
