import { CodeBlock } from "../../components/code-block.tsx"
import { EmptyState } from "../../components/empty-state.tsx"

/** How to get a first webhook, and how its receiver verifies it. */
export function Guide({ origin }: { origin: string }) {
  return (
    <EmptyState title="There are no deliveries yet">
      <p>
        Name a URL of yours as <code>webhook</code> in any request that makes a job. It is called
        once the job has ended, with the record of the job.
      </p>
      <CodeBlock label="A request with a webhook" text={requestOf(origin)} />
      <p>
        Let your receiver verify what comes, with the signing secret below, and answer 2xx within 15
        seconds. This one uses the package <code>standardwebhooks</code>:
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
