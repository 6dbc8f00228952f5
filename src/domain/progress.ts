import type { ProgressDetail } from "../contract/report.ts"

/**
 * Progress of a job. `percent` is from 0 to 100, and 0 if unknown. `etaSeconds` is present if the
 * remaining time can be estimated, and `detail` if the running tool reports details.
 */
export type Progress = {
  percent: number
  etaSeconds?: number | undefined
  detail?: ProgressDetail | undefined
}
