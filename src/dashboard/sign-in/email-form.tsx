import { Field } from "../components/field.tsx"

/** Form of an email address that a mail goes to. */
export function EmailForm(props: { action: string; email: string | undefined; submit: string }) {
  return (
    <form method="post" action={props.action} class="form">
      <Field
        label="Email"
        name="email"
        type="email"
        value={props.email}
        autocomplete="username"
        required
      />
      <button type="submit" class="button primary">
        {props.submit}
      </button>
    </form>
  )
}
