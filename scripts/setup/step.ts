/** One piece of the set-up; `isDone` is asked at each start and must be quick. */
export type Step = {
  /** What is installed, as it reads after "Installing". */
  name: string
  /** What a person can do where `make` cannot. */
  advice: string
  isDone(): Promise<boolean>
  canMake(): Promise<boolean>
  /** Throws a Complaint where it fails. */
  make(): Promise<void>
}
