/** Progress bar from 0 to 100 percent; indeterminate if `percent` is null. */
export function ProgressBar(props: { percent: number | null; label?: string }) {
  const { percent, label = "Progress" } = props
  const whole = percent === null ? null : Math.max(0, Math.min(100, Math.floor(percent)))
  return (
    <span class="progress">
      <progress max={100} value={whole ?? undefined} aria-label={label}></progress>
      <span class="progress-text">{whole === null ? "…" : `${whole} %`}</span>
    </span>
  )
}
