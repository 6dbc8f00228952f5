import type { DeliveryRecord } from "../../../resources/webhooks/record.ts"
import { faultOf } from "../../api.ts"
import type { ApiAnswer } from "../../api.ts"
import { Card } from "../../components/card.tsx"
import { Field } from "../../components/field.tsx"
import { Notice } from "../../components/notice.tsx"

type Refused = { url: string; answer: ApiAnswer<DeliveryRecord> }

/** Sends a test event to a URL. */
export function TestForm({ refused }: { refused: Refused | undefined }) {
  const answer = refused?.answer ?? null
  const fault = faultOf(answer, "url")
  return (
    <Card title="Send a test event">
      <p>One signed call, of the type webhook.test, shows whether your receiver is reached.</p>
      {answer && !answer.ok && fault === null && <Notice tone="bad">{answer.message}</Notice>}
      <form method="post" action="/webhooks/test" class="form">
        <Field
          label="URL of your receiver"
          name="url"
          type="url"
          value={refused?.url}
          required
          autofocus={fault !== null}
          autocomplete="off"
          placeholder="https://example.com/hooks/lathe"
          error={fault}
        />
        <div class="actions">
          <button type="submit" class="button primary">
            Send a test event
          </button>
        </div>
      </form>
    </Card>
  )
}
