import { Card } from "../../components/card.tsx"
import { CodeBlock } from "../../components/code-block.tsx"

/** What a new account does first: a key, a request, and where to try things. */
export function FirstSteps({ origin, hasKey }: { origin: string; hasKey: boolean }) {
  return (
    <Card title="First steps">
      <ol class="steps">
        <li>
          <h3>{hasKey ? "You have a key" : "Create a key"}</h3>
          <p class="soft">Your programs send it with each request.</p>
          {!hasKey && (
            <p>
              <a class="button primary" href="/keys/new">
                Create a key
              </a>
            </p>
          )}
        </li>
        <li>
          <h3>Run a command</h3>
          <p class="soft">
            This one needs no file: it makes two seconds of a test picture. Put your key in.
          </p>
          <CodeBlock label="A request that runs a command" text={firstCommand(origin)} />
        </li>
        <li>
          <h3>Or try it here first</h3>
          <p class="soft">The playground builds commands for you and runs them with your files.</p>
          <p>
            <a class="button" href="/playground">
              Open the playground
            </a>
          </p>
        </li>
      </ol>
    </Card>
  )
}

const FIRST_COMMAND = {
  ffmpeg_command: "ffmpeg -f lavfi -i testsrc=duration=2 {{out_1}}",
  input_files: {},
  output_files: { out_1: "first.mp4" },
}

/** A line for a shell that works as soon as a key is in it. */
function firstCommand(origin: string): string {
  return [
    `curl ${origin}/v1/commands \\`,
    `  -H "x-api-key: YOUR_KEY" \\`,
    `  -H "content-type: application/json" \\`,
    `  -d '${JSON.stringify(FIRST_COMMAND, null, 2)}'`,
  ].join("\n")
}
