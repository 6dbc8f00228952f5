import type { Child } from "hono/jsx"
import type { FileRecord } from "../../../kinds/file/record.ts"
import type { JobRecord } from "../../../kinds/job-record.ts"
import { Card } from "../../components/card.tsx"
import { CodeBlock } from "../../components/code-block.tsx"
import { Select } from "../../components/field.tsx"
import { formatBytes } from "../../components/format.ts"
import { LiveRegion } from "../../components/live.tsx"
import { Notice } from "../../components/notice.tsx"
import type { UploadLimits } from "../upload-limits.ts"
import { UploadForm } from "../files/upload.tsx"
import { JobActionButton, JobStateView, jobTitle } from "../jobs/detail.tsx"
import { isJobOpen } from "../jobs/state.tsx"
import { COMMAND_RECIPES } from "./recipes.ts"

const FILE_LIST = "known-files"

/**
 * Content of the playground: the form, the check of the command, and the running job.
 * playground.client.js fills the form, and copies the markup of the <template> elements.
 */
export function PlaygroundView(props: {
  job: JobRecord | null
  files: readonly FileRecord[]
  uploadLimits: UploadLimits
}) {
  const { job, files, uploadLimits } = props
  return (
    <div class="workbench">
      <div class="stack">
        <Card title="Command">
          <noscript>
            <Notice tone="idle">
              The playground needs JavaScript. Without it, send commands by the{" "}
              <a href="/docs/guide/commands">API</a>.
            </Notice>
          </noscript>
          <CommandForm files={files} />
        </Card>
        <Card title="Add a file">
          <UploadForm id="upload" limits={uploadLimits} />
        </Card>
      </div>
      <div class="stack">
        <LiveRegion id="result" class="stack">
          {job && <Result job={job} />}
        </LiveRegion>
        <Card title="Commands to run">
          <div id="check" class="stack" aria-live="polite" />
        </Card>
        <Card title="Request for the API">
          <div id="curl" />
        </Card>
      </div>
      <template data-part="code">
        <CodeBlock label="" text="" />
      </template>
    </div>
  )
}

/** Empty form for a command. The attribute `data-playground` holds the recipes as JSON. */
function CommandForm({ files }: { files: readonly FileRecord[] }) {
  return (
    <form class="form wide" data-playground={JSON.stringify(COMMAND_RECIPES)} novalidate hidden>
      {/* Hidden button that the Enter key in a text field activates. */}
      <button class="visually-hidden" name="action" value="check" tabindex={-1} aria-hidden="true">
        Check
      </button>
      <div class="recipe">
        <Select
          label="Recipe"
          name="recipe"
          options={[
            ["", "My own"],
            ...COMMAND_RECIPES.map(({ id, title }) => [id, title] as const),
          ]}
        />
        <button class="button" name="action" value="recipe">
          Use it
        </button>
      </div>
      <Rows of="input" title="Input files" value="file or URL">
        <datalist id={FILE_LIST}>
          {files.map(({ id, name, size_bytes: bytes }) => (
            <option
              value={`svc_id://${id}`}
              data-name={name}
              label={bytes === null ? name : `${name} · ${formatBytes(bytes)}`}
            />
          ))}
        </datalist>
      </Rows>
      <CommandText />
      <Rows of="output" title="Output files" value="name" />
      <p class="actions">
        <button class="button primary" name="action" value="run">
          Run
        </button>
        <button class="button" name="action" value="check">
          Check
        </button>
      </p>
    </form>
  )
}

type RowKind = "input" | "output"

/**
 * Rows of the form with a key and a file or name. In the <template> of a row, # stands for the
 * row's number.
 */
function Rows(props: { of: RowKind; title: string; value: string; children?: Child }) {
  const { of, title, value, children } = props
  const facts = { autocomplete: "off", spellcheck: false, "aria-describedby": `error-${of}-#` }
  const row = `${of === "input" ? "Input" : "Output"} #`
  const isInput = of === "input"
  return (
    <fieldset class="rows" data-rows={of}>
      <legend>{title}</legend>
      <template>
        <div class="row">
          <input {...facts} class="mono key" aria-label={`${row}: key`} />
          <input
            {...facts}
            aria-label={`${row}: ${value}`}
            list={isInput ? FILE_LIST : undefined}
            placeholder={isInput ? "Search your files, or enter a URL" : "film.mp4"}
          />
          <button
            class="button quiet"
            name="action"
            value={`drop-${of}-#`}
            aria-label={`Remove ${of} #`}
          >
            Remove
          </button>
          <p class="hint" id={`note-${of}-#`} />
          <div class="field-error" id={`error-${of}-#`} aria-live="polite" />
        </div>
      </template>
      {isInput && (
        <p class="hint" data-unless-rows>
          This command reads no file.
        </p>
      )}
      <button class="button" name="action" value={`add-${of}`}>
        {isInput ? "Add an input" : "Add an output"}
      </button>
      {children}
    </fieldset>
  )
}

/** Text area for the FFmpeg command. */
function CommandText() {
  return (
    <div class="field">
      <label for="field-command">FFmpeg command</label>
      <textarea
        id="field-command"
        class="mono"
        name="command"
        rows={7}
        spellcheck={false}
        autocapitalize="off"
        aria-describedby="error-command hint-command"
      />
      <div class="field-error" id="error-command" aria-live="polite" />
      <p class="hint" id="hint-command">
        Write <code>{"{{in_1}}"}</code> and <code>{"{{out_1}}"}</code> for files. Each line that
        begins with ffmpeg is a separate command.
      </p>
    </div>
  )
}

function Result({ job }: { job: JobRecord }) {
  const title = <a href={`/jobs/${job.id}`}>Open the job</a>
  return (
    <Card
      title={jobTitle(job)}
      actions={
        <LiveRegion id={`actions-${job.id}`} as="span" class="actions">
          {isJobOpen(job) ? <JobActionButton job={job} action="cancel" title="Cancel" /> : null}
          {title}
        </LiveRegion>
      }
    >
      <JobStateView job={job} />
    </Card>
  )
}
