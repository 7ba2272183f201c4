// Limits of a stop, and the measured health of a dependency.
import type { DependencyHealth } from '../kernel/role/built-in-operations.ts'

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

/** Runs a health check and measures its latency. A check that throws has failed. */
export async function measureHealth(
  name: string,
  check: () => Promise<{ ok: boolean; detail: string }>,
): Promise<DependencyHealth> {
  const began = performance.now()
  const found = await check().catch(() => ({ ok: false, detail: 'cannot be reached' }))
  return { name, ...found, latency_ms: Math.round((performance.now() - began) * 1_000) / 1_000 }
}
