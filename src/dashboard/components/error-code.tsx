/** Error code as a link to the documentation of the error. */
export function ErrorCode({ code }: { code: string }) {
  return (
    <a href={`/docs/errors/${code}`}>
      <code>{code}</code>
    </a>
  )
}
