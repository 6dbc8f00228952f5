import type { ProgressDetail } from "../contract/report.ts"

/**
 * Progress of a job: `percent` from 0 to 100, 0 if unknown; `etaSeconds` if it can be estimated;
 * `detail` if the running tool reports it.
 */
export type Progress = {
  percent: number
  etaSeconds?: number | undefined
  detail?: ProgressDetail | undefined
}
