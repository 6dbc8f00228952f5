import type { FileRecord } from "../../../kinds/file/record.ts"
import { formatBytes } from "../../components/format.ts"
import { Live } from "../../components/live.tsx"
import type { Check } from "./check.ts"
import type { Draft } from "./draft.ts"

const FILE_LIST = "known-files"

/** The files that a command reads: keys, and what stands for each; files are found by their names. */
export function InputRows(props: { draft: Draft; check: Check; files: readonly FileRecord[] }) {
  const { draft, check, files } = props
  return (
    <fieldset class="rows">
      <legend>Input files</legend>
      {draft.inputs.length === 0 && <p class="hint">This command reads no file.</p>}
      {draft.inputs.map(({ key, reference }, at) => (
        <Row
          of="input"
          at={at}
          fields={["key", "file"]}
          values={[key, reference]}
          titles={["key", "file or URL"]}
          list={FILE_LIST}
          placeholder="Search your files, or give a URL"
          note={nameOf(files, reference)}
          fault={check.inputs[at]}
        />
      ))}
      <button class="button" name="action" value="add-input">
        Add an input
      </button>
      <datalist id={FILE_LIST}>
        {files.map(({ id, name, size_bytes: bytes }) => (
          <option
            value={`svc_id://${id}`}
            label={bytes === null ? name : `${name} · ${formatBytes(bytes)}`}
          />
        ))}
      </datalist>
    </fieldset>
  )
}

/** The files that a command makes: keys and names. */
export function OutputRows({ draft, check }: { draft: Draft; check: Check }) {
  return (
    <fieldset class="rows">
      <legend>Output files</legend>
      {draft.outputs.map(({ key, name }, at) => (
        <Row
          of="output"
          at={at}
          fields={["key", "name"]}
          values={[key, name]}
          titles={["key", "name"]}
          placeholder="film.mp4"
          fault={check.outputs[at]}
        />
      ))}
      <button class="button" name="action" value="add-output">
        Add an output
      </button>
    </fieldset>
  )
}

/** The text of a command. */
export function CommandText({ text, faults }: { text: string; faults: string[] }) {
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
        aria-invalid={faults.length > 0 ? "true" : undefined}
      >
        {text}
      </textarea>
      <Fault id="error-command" messages={faults} />
      <p class="hint" id="hint-command">
        Write <code>{"{{in_1}}"}</code> and <code>{"{{out_1}}"}</code> where files go. A further
        line that begins with ffmpeg is a further command.
      </p>
    </div>
  )
}

function Row(props: {
  of: "input" | "output"
  at: number
  fields: readonly [string, string]
  values: readonly [string, string]
  titles: readonly [string, string]
  placeholder: string
  list?: string
  note?: string | null
  fault: string | undefined
}) {
  const { of, at, fields, values, titles, placeholder, list, note = null, fault } = props
  const id = `${of}-${at}`
  const shared = {
    autocomplete: "off",
    spellcheck: false,
    "aria-describedby": `error-${id}`,
    "aria-invalid": fault === undefined ? undefined : ("true" as const),
  }
  const row = `${of === "input" ? "Input" : "Output"} ${at + 1}`
  return (
    <div class="row">
      <input
        {...shared}
        class="mono key"
        name={`${of}_${fields[0]}`}
        value={values[0]}
        aria-label={`${row}: ${titles[0]}`}
      />
      <input
        {...shared}
        id={id}
        name={`${of}_${fields[1]}`}
        value={values[1]}
        aria-label={`${row}: ${titles[1]}`}
        list={list}
        placeholder={placeholder}
      />
      <button
        class="button quiet"
        name="action"
        value={`drop-${of}-${at}`}
        aria-label={`Remove ${of} ${at + 1}`}
      >
        Remove
      </button>
      <Live id={`note-${id}`} of="form" as="p" class="hint">
        {note !== null && <bdi>{note}</bdi>}
      </Live>
      <Fault id={`error-${id}`} messages={fault === undefined ? [] : [fault]} />
    </div>
  )
}

/** What is wrong with a field, said as soon as it is known. */
function Fault({ id, messages }: { id: string; messages: string[] }) {
  return (
    <Live id={id} of="form" as="div" class="field-error" tells>
      {messages.map((message) => (
        <p>{message}</p>
      ))}
    </Live>
  )
}

function nameOf(files: readonly FileRecord[], reference: string): string | null {
  return files.find(({ id }) => reference === `svc_id://${id}`)?.name ?? null
}
