/** An error code, which leads to the page that says what to do. */
export function ErrorCode({ code }: { code: string }) {
  return (
    <a href={`/docs/errors/${code}`}>
      <code>{code}</code>
    </a>
  )
}
