// Runs due work concurrently, one item for each key at a time, until none is left.
import type { Call } from '../../../kernel/operation/call.ts'

/** Another process may make work due without an announcement here. */
const poll_interval_ms = 1_000

export type DueWork = {
  /** While work of a key runs, no other work of that key begins. */
  readonly key: string
  readonly run: () => Promise<void>
}

/**
 * Looks for due work at each announcement on `topic`, and announces the end of work there. Returns when nothing runs
 * and `findDue` finds nothing. `findDue` returns work for keys that are not in `busy`. Work must not throw.
 */
export async function runDueWork(
  call: Call,
  topic: string,
  findDue: (busy: ReadonlyMap<string, unknown>) => Promise<readonly DueWork[]>,
): Promise<void> {
  const busy = new Map<string, Promise<void>>()
  for await (const _ of call.changes(topic, call.signal, poll_interval_ms)) {
    for (const { key, run } of await findDue(busy)) {
      const work = run().finally(() => {
        busy.delete(key)
        call.announce(topic)
      })
      busy.set(key, work)
    }
    if (busy.size === 0) break
  }
  await Promise.all(busy.values())
}
