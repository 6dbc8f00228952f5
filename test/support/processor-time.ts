/**
 * Returns the CPU time that this process uses for `work`, in milliseconds. Other processes do not
 * affect the result.
 */
export async function measureCpuMs(work: () => unknown): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}
