// Repeats a request to a store of objects that has failed for a reason that may pass.
import { setTimeout as delay } from 'node:timers/promises'
import { ObjectChangedError } from '../../../shared/object-source/object-source.ts'
import { RowSourceError } from '../../../shared/row-source/row-source.ts'

const waits_ms = [500, 2_000]
/** Of one action, also where each makes some progress. */
const max_repetitions = 100

/** `progress`: a number that grows with what the action has reached, after which it may fail as often again. Throws what the last one threw. */
export async function retryPassing<T>(
  action: () => Promise<T>,
  signal: AbortSignal,
  progress: () => number = () => 0,
): Promise<T> {
  let failures = 0
  for (let repetitions = 0; ; repetitions++) {
    const before = progress()
    try {
      return await action()
    } catch (error) {
      const isPassing = error instanceof RowSourceError && !error.isFinal && !(error instanceof ObjectChangedError)
      failures = progress() > before ? 1 : failures + 1
      const wait_ms = waits_ms[failures - 1]
      if (!isPassing || wait_ms === undefined || repetitions === max_repetitions) throw error
      await delay(wait_ms, undefined, { signal })
    }
  }
}
