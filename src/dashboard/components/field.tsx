import type { Child } from "hono/jsx"

type Described = {
  label: string
  name: string
  /** Where two forms of a page have a field of the same name. */
  id?: string
  hint?: Child
  /** What is wrong with the value that was sent. */
  error?: string | null | undefined
}

type InputFacts = Described & {
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

/** One line of input with its label, a hint, and what was wrong with it. */
export function Field({ label, name, id, hint, error, value, ...input }: InputFacts) {
  const facts = { label, name, id: id ?? `field-${name}`, hint, error }
  return (
    <Labelled {...facts}>
      <input {...input} {...described(facts)} value={value === null ? undefined : value} />
    </Labelled>
  )
}

/** One of some values; an option is a value, or a value and how it is called. */
export function Select(
  props: Described & {
    options: readonly (string | readonly [value: string, title: string])[]
    value?: string | null | undefined
    required?: boolean
  },
) {
  const { label, name, id, hint, error, options, value, ...input } = props
  const facts = { label, name, id: id ?? `field-${name}`, hint, error }
  return (
    <Labelled {...facts}>
      <select {...input} {...described(facts)}>
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

type Placed = Described & { id: string }

function Labelled({ label, id, hint, error, children }: Placed & { children: Child }) {
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

function described({ id, name, hint, error }: Placed) {
  const texts = [error && `${id}-error`, hint !== undefined && `${id}-hint`].filter(Boolean)
  return {
    id,
    name,
    "aria-invalid": error ? ("true" as const) : undefined,
    "aria-describedby": texts.length > 0 ? texts.join(" ") : undefined,
  }
}
