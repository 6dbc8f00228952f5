import type { DeliveryRecord } from "../../../api/routes/webhooks/record.ts"
import { ActionForm } from "../../components/buttons.tsx"
import { StatusBadge } from "../../components/badge.tsx"
import { Card } from "../../components/card.tsx"
import { DescriptionList } from "../../components/description-list.tsx"
import { formatDuration } from "../../components/format.ts"
import { LiveRegion, PollMarker } from "../../components/live.tsx"
import { Table } from "../../components/table.tsx"
import { RelativeTime } from "../../components/time.tsx"

/**
 * Time in milliseconds before the next try of a delivery during which the page is polled. A claim
 * of a try lasts 60 seconds, so the time must be longer.
 */
const SOON_MS = 90_000

/** Content of the page of a delivery, with all its tries. */
export function DeliveryPage({ delivery }: { delivery: DeliveryRecord }) {
  const { id, endpoint_id: endpointId, url, status, tries } = delivery
  return (
    <>
      <PollMarker isOpen={isDueSoon(delivery)} />
      <Card title="Delivery" actions={<ReplayButton id={id} />}>
        <LiveRegion id="delivery">
          <DescriptionList
            rows={[
              ["Status", <StatusBadge status={status} />],
              ["Receiver", url],
              subjectRow(delivery),
              [
                "Sent to",
                endpointId === null ? "The URL of a request" : "An endpoint of the account",
              ],
              ["Created", <RelativeTime at={delivery.created_at} />],
              status === "waiting"
                ? ["Next try", <RelativeTime at={delivery.next_try_at} />]
                : ["Ended", <RelativeTime at={delivery.completed_at} />],
              ["Id", <code>{id}</code>],
            ]}
          />
        </LiveRegion>
        <p class="soft">
          Each try sends the same body and the id in <code>webhook-id</code>, so that your receiver
          can recognize a repeated webhook.
        </p>
      </Card>
      <Card title="Tries">
        <LiveRegion id="tries" tells>
          <Table
            caption="Tries"
            columns={["Try", "When", "Result", { title: "Took", isNumeric: true }, "Answer"]}
            rows={tries.toReversed().map(rowOf)}
            empty={<p>No try yet; the first try begins shortly.</p>}
          />
        </LiveRegion>
      </Card>
    </>
  )
}

/** Row for the job or the batch whose end the event reports. */
function subjectRow({ job_id: job, batch_id: batch }: DeliveryRecord) {
  if (batch !== undefined) return ["Batch", <a href={`/batches/${batch}`}>{batch}</a>] as const
  const isTest = job === null
  return ["Job", isTest ? "none: a test event" : <a href={`/jobs/${job}`}>{job}</a>] as const
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
    <RelativeTime at={at} />,
    <>
      <StatusBadge status={error === undefined ? "delivered" : "failed"} />{" "}
      {error ?? `The receiver answered ${status}.`}
    </>,
    formatDuration(duration_ms / 1000),
    answer ? <Answer text={answer} number={number} /> : <span class="soft">Nothing</span>,
  ]
}

/** First characters of the response from a webhook receiver. A long response is collapsed. */
function Answer({ text, number }: { text: string; number: number }) {
  const isShort = text.length <= 60 && !text.includes("\n")
  if (isShort) return <code>{text}</code>
  return (
    <details>
      <summary>Its first {text.length} characters</summary>
      <pre tabindex={0} role="region" aria-label={`Answer to try ${number}`}>
        {text}
      </pre>
    </details>
  )
}

function ReplayButton({ id }: { id: string }) {
  return <ActionForm action={`/webhooks/${id}/replay`} tone="primary" text="Replay" />
}
