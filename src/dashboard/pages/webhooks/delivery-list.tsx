import type { DeliveryRecord } from "../../../api/routes/webhooks/record.ts"
import { DELIVERY_STATES } from "../../../domain/states.ts"
import { findFieldError } from "../../api.ts"
import type { ApiRequestResult } from "../../api.ts"
import { LinkButton, SubmitButton } from "../../components/buttons.tsx"
import { StatusBadge } from "../../components/badge.tsx"
import { Card } from "../../components/card.tsx"
import { EmptyState } from "../../components/empty-state.tsx"
import { Field, Select } from "../../components/field.tsx"
import { Notice } from "../../components/notice.tsx"
import { Table } from "../../components/table.tsx"
import { RelativeTime } from "../../components/time.tsx"
import { CodeBlock } from "../../components/code-block.tsx"

/** Query parameters that filter the list of deliveries. */
export const DELIVERY_FILTER_PARAMETERS = ["status", "job_id"] as const

/**
 * Table with one page of deliveries. An account without any delivery sees a guide in place of the
 * table.
 */
export function DeliveryList(props: {
  deliveries: ApiRequestResult<DeliveryRecord[]>
  filters: URLSearchParams
  isFirstPage: boolean
  origin: string
}) {
  const { deliveries: answer, filters, isFirstPage, origin } = props
  const isWhole = filters.size === 0 && isFirstPage
  if (answer.ok && answer.value.length === 0 && isWhole) {
    return (
      <Card title="Deliveries">
        <Guide origin={origin} />
      </Card>
    )
  }
  const fault = findFieldError(answer, "job_id")
  return (
    <Card title="Deliveries">
      <Filters filters={filters} fault={fault} />
      {answer.ok ? (
        <Table
          caption="Deliveries"
          columns={[
            "Type",
            "Receiver",
            "Status",
            { title: "Tries", isNumeric: true },
            "Last answer",
            "Next try",
            "Created",
          ]}
          rows={answer.value.map(rowOf)}
          empty={<NothingFound />}
        />
      ) : (
        fault === null && <Notice tone="bad">{answer.message}</Notice>
      )}
    </Card>
  )
}

function rowOf({ id, type, url, status, tries, next_try_at, created_at }: DeliveryRecord) {
  return [
    <a class="name" href={`/webhooks/${id}`}>
      {type} <code class="soft">{id.slice(-8)}</code>
    </a>,
    <span title={url}>{URL.parse(url)?.host ?? url}</span>,
    <StatusBadge status={status} />,
    tries.length,
    describeLastReceiverResponse(tries),
    <RelativeTime at={next_try_at} />,
    <RelativeTime at={created_at} />,
  ]
}

/** Describes the last response of a receiver; a dash before the first try. */
export function describeLastReceiverResponse(tries: DeliveryRecord["tries"]): string {
  const last = tries.at(-1)
  if (!last) return "–"
  return last.status === null ? (last.error ?? "no answer") : `status ${last.status}`
}

function Filters({ filters, fault }: { filters: URLSearchParams; fault: string | null }) {
  return (
    <form method="get" action="/webhooks" class="filters">
      <Select
        label="Status"
        name="status"
        value={filters.get("status") ?? ""}
        options={[["", "Any status"], ...DELIVERY_STATES]}
      />
      <Field
        label="Job"
        name="job_id"
        value={filters.get("job_id") ?? ""}
        placeholder="Any job, or the id of one"
        autocomplete="off"
        spellcheck={false}
        error={fault}
      />
      <SubmitButton text="Filter" />
    </form>
  )
}

function NothingFound() {
  return (
    <EmptyState title="No delivery matches the filter">
      <p>
        <LinkButton to="/webhooks" text="Show all deliveries" />
      </p>
    </EmptyState>
  )
}

/** Guide to a first webhook and its verification. */
function Guide({ origin }: { origin: string }) {
  return (
    <EmptyState title="No deliveries yet">
      <p>
        Send a URL of yours as <code>webhook</code> in any request that creates a job. The service
        posts the record of the job to it when the job ends.
      </p>
      <CodeBlock label="A request with a webhook" text={requestOf(origin)} />
      <p>
        Your receiver must verify each webhook with the signing secret below and answer 2xx within
        15 seconds. The example uses the package <code>standardwebhooks</code>:
      </p>
      <CodeBlock label="A receiver that verifies webhooks" text={RECEIVER} />
    </EmptyState>
  )
}

function requestOf(origin: string): string {
  return `curl ${origin}/v1/commands \\
  -H "X-API-Key: $LATHE_KEY" -H "Content-Type: application/json" \\
  -d '{
    "input_files": {},
    "output_files": {"out_1": "test.mp4"},
    "ffmpeg_command": "ffmpeg -f lavfi -i testsrc=d=5 {{out_1}}",
    "webhook": "https://example.com/hooks/lathe"
  }'`
}

const RECEIVER = `import { createServer } from "node:http"
import { text } from "node:stream/consumers"
import { Webhook } from "standardwebhooks"

const webhook = new Webhook(process.env.WEBHOOK_SECRET)

createServer(async (request, response) => {
  try {
    const event = webhook.verify(await text(request), request.headers)
    console.log(event.type, event.data.id)
    response.writeHead(204).end()
  } catch {
    response.writeHead(400).end()
  }
}).listen(8080)`
