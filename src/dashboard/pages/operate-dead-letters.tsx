import { Hono } from "hono"
import type { Child } from "hono/jsx"
import { notFoundProblem } from "../../api/output/problem.ts"
import { readDeadLetter } from "../../upkeep/dead-letters.ts"
import type { DeadLetterSubject } from "../../upkeep/dead-letters.ts"
import { openDirectory } from "../../db/database.ts"
import { deleteDeadLetter, listDeadLetters } from "../../db/dead-letters.ts"
import type { DeadLetter } from "../../db/schema/operations.ts"
import { ActionForm } from "../components/buttons.tsx"
import { StatusBadge } from "../components/badge.tsx"
import { Card } from "../components/card.tsx"
import { EmptyState } from "../components/empty-state.tsx"
import { DescriptionList } from "../components/description-list.tsx"
import { Pager } from "../components/pager.tsx"
import { Table } from "../components/table.tsx"
import { RelativeTime } from "../components/time.tsx"
import type { PageEnv } from "../context.ts"
import { redirectWithMessage } from "../flash.ts"
import { showPage } from "../layout.tsx"
import { requireOperator } from "../operator.ts"

const PATH = "/operate/dead-letters"
const PAGE_SIZE = 50
/** Maximum number of stored dead letters. */
const OFFSET_MAX = 1000
const LEAD =
  "Queue messages that failed too often. Their jobs and webhooks are not lost: each minute the sweep finds open jobs and due webhooks and sends new messages. The service keeps the newest 1000 dead letters for 30 days."

/** Operator's pages of dead letters: queue messages that failed too often. */
export const operatorDeadLetterPages = new Hono<PageEnv>()

operatorDeadLetterPages.get(PATH, requireOperator, async (c) => {
  const requestedOffset = Number.parseInt(c.req.query("offset") ?? "0", 10) || 0
  const offset = Math.min(Math.max(0, requestedOffset), OFFSET_MAX)
  const letters = await listDeadLetters(openDirectory(c.env), { offset, limit: PAGE_SIZE + 1 })
  const hasMore = letters.length > PAGE_SIZE
  return showPage(
    c,
    { title: "Dead letters", section: "dead-letters", lead: LEAD },
    <Card title="All dead letters">
      <Table
        caption="Dead letters"
        columns={["Received", "Queue", "About", "Actions"]}
        rows={letters
          .slice(0, PAGE_SIZE)
          .map((letter) => [
            <RelativeTime at={letter.receivedAt} />,
            letter.queue,
            <a href={`${PATH}/${letter.id}`}>{describeQueue(letter.queue).subject}</a>,
            <DismissForm id={letter.id} />,
          ])}
        empty={
          <EmptyState title="No dead letters">
            <p>Queue messages that fail too often appear here.</p>
          </EmptyState>
        }
      />
      <Pager next={hasMore ? `${PATH}?offset=${offset + PAGE_SIZE}` : null} />
    </Card>,
  )
})

operatorDeadLetterPages.get(`${PATH}/:id`, requireOperator, async (c) => {
  const read = await readDeadLetter(c.env, c.req.param("id"))
  if (!read) throw notFoundProblem("dead letter")
  const { letter, accountId, subjects } = read
  const { why, sweep } = describeQueue(letter.queue)
  return showPage(
    c,
    { title: "Dead letter", section: "dead-letters" },
    <>
      <Card title="The message" actions={<DismissForm id={letter.id} />}>
        <DescriptionList
          rows={[
            ["Received", <RelativeTime at={letter.receivedAt} />],
            ["Queue", letter.queue],
            ["Id", letter.id],
            ["Account", accountLink(accountId)],
          ]}
        />
        <p>{why}</p>
        <p>{sweep}</p>
      </Card>
      <Card title="Subject">
        <Table
          caption="Subject"
          columns={["What", "Id", "State now"]}
          rows={subjects.map(({ type, id, state }) => [NAMES[type], id, <State of={state} />])}
          empty={
            <EmptyState title="Unknown subject">
              <p>This version does not know the form of the message.</p>
            </EmptyState>
          }
        />
      </Card>
      <Card title="Body">
        <pre>{bodyText(letter)}</pre>
      </Card>
    </>,
  )
})

operatorDeadLetterPages.post(`${PATH}/:id/dismiss`, requireOperator, async (c) => {
  const isGone = await deleteDeadLetter(openDirectory(c.env), c.req.param("id"))
  return redirectWithMessage(
    c,
    PATH,
    isGone ? "The dead letter is dismissed." : "The dead letter was already dismissed.",
  )
})

const NAMES: Record<DeadLetterSubject["type"], string> = { job: "Job", delivery: "Webhook" }

function State(props: { of: string | null }) {
  return props.of === null ? <>gone</> : <StatusBadge status={props.of} />
}

function DismissForm(props: { id: string }) {
  return (
    <ActionForm
      action={`${PATH}/${props.id}/dismiss`}
      tone="quiet"
      asks="Dismiss this dead letter? Its job or webhook stays unchanged."
      text="Dismiss"
    />
  )
}

function accountLink(accountId: string | null): Child {
  if (accountId === null) return "none"
  return <a href={`/operate/accounts/${encodeURIComponent(accountId)}`}>{accountId}</a>
}

function bodyText({ body }: DeadLetter): string {
  return JSON.stringify(body, null, 2)
}

function describeQueue(queue: string): { subject: string; why: string; sweep: string } {
  if (queue.includes("webhooks")) {
    return {
      subject: "A webhook",
      why: "The consumer failed 4 times in a row to begin the try of a due webhook: the Worker or D1 did not answer. A failing receiver is not the cause; its webhook has its own tries.",
      sweep:
        "The sweep sends another message each minute while the next try of the webhook is due.",
    }
  }
  return {
    subject: "New tasks",
    why: "The account's dispatcher failed 11 times in a row to enqueue the tasks of a new job.",
    sweep:
      "The sweep sends another message each minute while the job is open and no dispatcher has accepted it. The sweep also wakes the dispatcher of each account with open jobs.",
  }
}
