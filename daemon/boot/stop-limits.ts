// Limits of a stop.

/** Time for work to end after its abort, on top of the time that requests have. Milliseconds. */
export const stop_grace_ms = 5_000

/** Waits for the work, but no longer than the limit: a stop must end, and durable work resumes at the next start. */
export async function waitAtMost(limit_ms: number, work: Promise<void> | undefined): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, limit_ms)
  })
  await Promise.race([work, late])
  clearTimeout(timer)
}
