import { SubmitButton } from "../components/buttons.tsx"
import { Field } from "../components/field.tsx"

/** Input for the email with which a user signs in. */
export function EmailField(props: {
  value: string | undefined
  autofocus?: boolean
  readonly?: boolean
}) {
  const isGiven = props.readonly === true
  return (
    <Field
      {...props}
      label="Email"
      name="email"
      type="email"
      autocomplete="username"
      required={!isGiven}
    />
  )
}

/** Form that asks for an email address to which a mail is sent. */
export function EmailForm(props: { action: string; email: string | undefined; submit: string }) {
  return (
    <form method="post" action={props.action} class="form">
      <EmailField value={props.email} />
      <SubmitButton tone="primary" text={props.submit} />
    </form>
  )
}
