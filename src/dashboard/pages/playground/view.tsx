import type { FileRecord } from "../../../kinds/file/record.ts"
import type { JobRecord } from "../../../kinds/job-record.ts"
import { Card } from "../../components/card.tsx"
import { CodeBlock } from "../../components/code-block.tsx"
import { Select } from "../../components/field.tsx"
import { Live } from "../../components/live.tsx"
import { Notice } from "../../components/notice.tsx"
import { UploadForm } from "../files/upload.tsx"
import { JobAction, JobState, jobTitle } from "../jobs/detail.tsx"
import { isOpen } from "../jobs/state.tsx"
import { curlPost, shellWord } from "../shell.ts"
import type { Check } from "./check.ts"
import { requestOfDraft } from "./draft.ts"
import type { Draft } from "./draft.ts"
import { CommandText, InputRows, OutputRows } from "./fields.tsx"
import { RECIPES } from "./recipes.ts"

/** The playground: the form of a command, what it would run, and the job that it became. */
export function PlaygroundView(props: {
  draft: Draft
  check: Check
  job: JobRecord | null
  files: readonly FileRecord[]
  url: string
  once: string
  bytesMax: number
}) {
  const { draft, check, job, files, url, once, bytesMax } = props
  return (
    <div class="workbench">
      <div class="stack">
        <CommandForm draft={draft} check={check} files={files} once={once} />
        <Card title="Add a file">
          <UploadForm id="upload" bytesMax={bytesMax} />
        </Card>
      </div>
      <div class="stack">
        <Live id="result" class="stack">
          {job && <Result job={job} />}
        </Live>
        <Card title="What will run">
          <Live id="check" of="form" tells>
            <CheckResult check={check} />
          </Live>
        </Card>
        <Card title="The same by the API">
          <Live id="curl" of="form">
            <CodeBlock
              label="Command that sends this to the API"
              text={curlPost(url, requestOfDraft(draft))}
            />
          </Live>
        </Card>
      </div>
    </div>
  )
}

function CommandForm(props: {
  draft: Draft
  check: Check
  files: readonly FileRecord[]
  once: string
}) {
  const { draft, check, files, once } = props
  return (
    <Card title="Command">
      <form method="post" action="/playground" class="form wide" data-playground novalidate>
        {/* What Enter in a line presses. */}
        <button
          class="visually-hidden"
          name="action"
          value="check"
          tabindex={-1}
          aria-hidden="true"
        >
          Check
        </button>
        <Live id="once" as="span" of="form" class="visually-hidden">
          <input type="hidden" name="once" value={once} />
        </Live>
        <div class="recipe">
          <Select
            label="Recipe"
            name="recipe"
            value={draft.recipe}
            options={[["", "My own"], ...RECIPES.map(({ id, title }) => [id, title] as const)]}
          />
          <button class="button" name="action" value="recipe">
            Use it
          </button>
        </div>
        <Live id="fields" of="fields" class="form wide">
          <InputRows draft={draft} check={check} files={files} />
          <CommandText text={draft.command} faults={check.command} />
          <OutputRows draft={draft} check={check} />
        </Live>
        <p class="actions">
          <button class="button primary" name="action" value="run">
            Run
          </button>
          <button class="button" name="action" value="check">
            Check
          </button>
        </p>
      </form>
    </Card>
  )
}

function CheckResult({ check }: { check: Check }) {
  const { isValid, others, commands } = check
  return (
    <>
      {isValid ? (
        <p class="verdict good">This can be run.</p>
      ) : (
        <p class="verdict bad">This cannot be run yet; what is wrong stands at the fields.</p>
      )}
      {others.map((message) => (
        <Notice tone="bad">{message}</Notice>
      ))}
      {commands.map((words, at) => (
        <CodeBlock
          label={
            commands.length > 1 ? `Command ${at + 1} as it is run` : "The command as it is run"
          }
          text={words.map(shellWord).join(" ")}
        />
      ))}
    </>
  )
}

function Result({ job }: { job: JobRecord }) {
  const title = <a href={`/jobs/${job.id}`}>Open the job</a>
  return (
    <Card
      title={jobTitle(job)}
      actions={
        <Live id={`actions-${job.id}`} as="span" class="actions">
          {isOpen(job) ? <JobAction job={job} action="cancel" title="Cancel" /> : null}
          {title}
        </Live>
      }
    >
      <JobState job={job} />
    </Card>
  )
}
