import type { DeliveryRecord } from "../../../resources/webhooks/record.ts"
import { StatusBadge } from "../../components/badge.tsx"
import { Card } from "../../components/card.tsx"
import { Facts } from "../../components/facts.tsx"
import { formatDuration } from "../../components/format.ts"
import { Live, Polled } from "../../components/live.tsx"
import { Table } from "../../components/table.tsx"
import { Time } from "../../components/time.tsx"

/** A page that waits for a try for so long is brought up to date by itself; a claimed try takes 60 s. */
const SOON_MS = 90_000

/** One delivery with every try that was made of it. */
export function DeliveryPage({ delivery }: { delivery: DeliveryRecord }) {
  const { id, job_id: jobId, url, status, tries } = delivery
  return (
    <>
      <Polled isOpen={isDueSoon(delivery)} />
      <Card title="Delivery" actions={<ReplayButton id={id} />}>
        <Live id="delivery">
          <Facts
            rows={[
              ["Status", <StatusBadge status={status} />],
              ["Receiver", url],
              [
                "Job",
                jobId === null ? "None: a test event" : <a href={`/jobs/${jobId}`}>{jobId}</a>,
              ],
              ["Created", <Time at={delivery.created_at} />],
              status === "waiting"
                ? ["Next try", <Time at={delivery.next_try_at} />]
                : ["Ended", <Time at={delivery.completed_at} />],
              ["Id", <code>{id}</code>],
            ]}
          />
        </Live>
        <p class="soft">
          Every try sends the same body and the id as <code>webhook-id</code>, so that your receiver
          can tell one that came before.
        </p>
      </Card>
      <Card title="Tries">
        <Live id="tries" tells>
          <Table
            caption="Tries"
            columns={["Try", "When", "Result", { title: "Took", isNumeric: true }, "Answer"]}
            rows={tries.toReversed().map(rowOf)}
            empty={<p>There was no try yet; the first one is on its way.</p>}
          />
        </Live>
      </Card>
    </>
  )
}

function isDueSoon({ next_try_at: at }: DeliveryRecord): boolean {
  return at !== null && Date.parse(at) - Date.now() < SOON_MS
}

function rowOf({
  number,
  at,
  status,
  duration_ms,
  error,
  answer,
}: DeliveryRecord["tries"][number]) {
  return [
    `#${number}`,
    <Time at={at} />,
    <>
      <StatusBadge status={error === undefined ? "delivered" : "failed"} />{" "}
      {error ?? `It answered ${status}.`}
    </>,
    formatDuration(duration_ms / 1000),
    answer ? <Answer text={answer} number={number} /> : <span class="soft">Nothing</span>,
  ]
}

/** The first bytes of what was answered, which a line shows where it is short. */
function Answer({ text, number }: { text: string; number: number }) {
  const isShort = text.length <= 60 && !text.includes("\n")
  if (isShort) return <code>{text}</code>
  return (
    <details>
      <summary>Its first {text.length} characters</summary>
      <pre tabindex={0} role="region" aria-label={`What try ${number} was answered`}>
        {text}
      </pre>
    </details>
  )
}

function ReplayButton({ id }: { id: string }) {
  return (
    <form method="post" action={`/webhooks/${id}/replay`}>
      <button type="submit" class="button primary">
        Deliver once more
      </button>
    </form>
  )
}
