import { PASSWORD_CHARACTERS } from "../../auth/limits.ts"
import { Field } from "../components/field.tsx"

type NewPassword = {
  label: string
  name: string
  /** What follows from it, after how long it has to be. */
  hint?: string
  error?: string | null
}

/** The field of a password that somebody chooses. */
export function NewPasswordField({ hint = "", ...facts }: NewPassword) {
  return (
    <Field
      {...facts}
      type="password"
      autocomplete="new-password"
      hint={`At least ${PASSWORD_CHARACTERS.min} characters. ${hint}`.trim()}
      minlength={PASSWORD_CHARACTERS.min}
      maxlength={PASSWORD_CHARACTERS.max}
      required
    />
  )
}
