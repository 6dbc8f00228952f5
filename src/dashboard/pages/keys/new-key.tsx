import { Card } from "../../components/card.tsx"
import { CodeBlock } from "../../components/code-block.tsx"
import { Notice } from "../../components/notice.tsx"
import type { NewKeyRecord } from "./record.ts"

/** A key that was just made, whole for the only time, and a request that uses it. */
export function NewKey({ made, origin }: { made: NewKeyRecord; origin: string }) {
  return (
    <>
      <Notice tone="busy">
        <p>
          <strong>Copy the key now.</strong> Only its hash is stored, so that it cannot be shown
          again.
        </p>
      </Notice>
      <Card title="Your key">
        <CodeBlock label="The new key" text={made.key} />
      </Card>
      <Card title="Try it">
        <CodeBlock
          label="A request with the new key"
          text={`curl ${origin}/v1/account \\\n  -H "x-api-key: ${made.key}"`}
        />
        <p>
          <a class="button primary" href="/keys">
            I have stored the key
          </a>
        </p>
      </Card>
    </>
  )
}
