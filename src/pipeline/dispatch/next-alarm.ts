const ALARM_MS = 5_000

/** The next alarm of a dispatcher, which is set while it has something to look after. */
export function openNextAlarm(storage: Pick<DurableObjectStorage, "setAlarm">) {
  let armedFor = 0
  return {
    /** One that is further off was set by a clock that was ahead; one that is long over was lost. */
    isArmed: () => Math.abs(armedFor - Date.now()) <= ALARM_MS,
    async arm(): Promise<void> {
      const at = Date.now() + ALARM_MS
      await storage.setAlarm(at)
      armedFor = at
    },
    wentOff(): void {
      armedFor = 0
    },
  }
}
