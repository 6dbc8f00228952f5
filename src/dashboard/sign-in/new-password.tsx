import { PASSWORD_LENGTH } from "../../accounts/sign-in/limits.ts"
import { Field } from "../components/field.tsx"

type NewPassword = {
  label: string
  name: string
  /** Sentence that follows the hint about the required length. */
  hint?: string
  error?: string | null
}

/** Input for a new password. */
export function NewPasswordField({ hint = "", ...facts }: NewPassword) {
  return (
    <Field
      {...facts}
      type="password"
      autocomplete="new-password"
      hint={`At least ${PASSWORD_LENGTH.min} characters. ${hint}`.trim()}
      minlength={PASSWORD_LENGTH.min}
      maxlength={PASSWORD_LENGTH.max}
      required
    />
  )
}
