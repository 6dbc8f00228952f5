import type { Child } from "hono/jsx"

type FieldFacts = {
  label: string
  name: string
  /** Id of the input, for a page with two forms that have a field of the same name. */
  id?: string
  hint?: Child
  /** Error message about the value that the user has submitted. */
  error?: string | null | undefined
}

type InputFacts = FieldFacts & {
  type?:
    | "text"
    | "email"
    | "password"
    | "number"
    | "search"
    | "url"
    | "date"
    | "datetime-local"
    | "file"
  value?: string | number | null | undefined
  required?: boolean
  disabled?: boolean
  readonly?: boolean
  autofocus?: boolean
  multiple?: boolean
  autocomplete?: string
  placeholder?: string
  pattern?: string
  inputmode?: "numeric" | "decimal" | "email" | "url"
  accept?: string
  list?: string
  spellcheck?: boolean
  minlength?: number
  maxlength?: number
  min?: number | string
  max?: number | string
  step?: number | "any"
}

/** Input with its label, hint and error message. */
export function Field({ label, name, id, hint, error, value, ...input }: InputFacts) {
  const facts = { label, name, id: id ?? `field-${name}`, hint, error }
  return (
    <Labelled {...facts}>
      <input {...input} {...describedBy(facts)} value={value === null ? undefined : value} />
    </Labelled>
  )
}

/** Drop-down list. An option is a value, or a value with its label. */
export function Select(
  props: FieldFacts & {
    options: readonly (string | readonly [value: string, title: string])[]
    value?: string | null | undefined
    required?: boolean
  },
) {
  const { label, name, id, hint, error, options, value, ...input } = props
  const facts = { label, name, id: id ?? `field-${name}`, hint, error }
  return (
    <Labelled {...facts}>
      <select {...input} {...describedBy(facts)}>
        {options
          .map((option) => (typeof option === "string" ? [option, option] : option))
          .map(([key, title]) => (
            <option value={key} selected={key === value}>
              {title}
            </option>
          ))}
      </select>
    </Labelled>
  )
}

type FieldPosition = FieldFacts & { id: string }

function Labelled({ label, id, hint, error, children }: FieldPosition & { children: Child }) {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children}
      {error && (
        <p class="field-error" id={`${id}-error`}>
          {error}
        </p>
      )}
      {hint !== undefined && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  )
}

function describedBy({ id, name, hint, error }: FieldPosition) {
  const texts = [error && `${id}-error`, hint !== undefined && `${id}-hint`].filter(Boolean)
  return {
    id,
    name,
    "aria-invalid": error ? ("true" as const) : undefined,
    "aria-describedby": texts.length > 0 ? texts.join(" ") : undefined,
  }
}
