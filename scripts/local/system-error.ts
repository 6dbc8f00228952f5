/** Whether an error is the operating system's of this code, as ENOENT. */
export function isSystemError(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code
}
