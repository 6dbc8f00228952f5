import type { z } from "zod"
import type { secretRecord } from "../../../resources/webhooks/secret.ts"
import { Card } from "../../components/card.tsx"
import { CodeBlock } from "../../components/code-block.tsx"
import { Time } from "../../components/time.tsx"

const QUESTION =
  "Make a new secret? The one that you have signs beside it for a day, and then no longer."

/** The secret that signs webhooks, which is in the page only where somebody asked for it. */
export function SecretCard(props: { secret: z.infer<typeof secretRecord>; isShown: boolean }) {
  const { secret, previous_valid_until: previousValidUntil } = props.secret
  return (
    <Card title="Signing secret" id="secret">
      <p>
        Your receiver tells by it that a webhook is from here. It follows{" "}
        <a href="https://www.standardwebhooks.com" rel="noreferrer">
          Standard Webhooks
        </a>
        , which has libraries for most languages.
      </p>
      {props.isShown ? <CodeBlock label="Signing secret" text={secret} /> : <HiddenSecret />}
      {previousValidUntil !== null && (
        <p class="soft">
          The secret before this one counts until <Time at={previousValidUntil} />.
        </p>
      )}
      <div class="actions">
        {props.isShown && (
          <a class="button" href="/webhooks">
            Hide the secret
          </a>
        )}
        <form method="post" action="/webhooks/secret/rotate">
          <button type="submit" class="button danger" data-confirm={QUESTION}>
            Rotate the secret
          </button>
        </form>
      </div>
    </Card>
  )
}

function HiddenSecret() {
  return (
    <form method="post" action="/webhooks/secret#secret" class="actions">
      <code aria-hidden="true">whsec_••••••••••••••••</code>
      <button type="submit" class="button">
        Show the secret
      </button>
    </form>
  )
}
