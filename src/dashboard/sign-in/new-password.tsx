import { PASSWORD_LENGTH_RANGE } from "../../accounts/sign-in/limits.ts"
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
      hint={`At least ${PASSWORD_LENGTH_RANGE.min} characters. ${hint}`.trim()}
      minlength={PASSWORD_LENGTH_RANGE.min}
      maxlength={PASSWORD_LENGTH_RANGE.max}
      required
    />
  )
}
