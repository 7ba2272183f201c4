// What is done for a cluster again and again, each kind by itself: what stands in its way is told once, and by health until it is gone.

import { isRefusal } from '../../kernel/error/errors.ts'
import type { Call } from '../../kernel/operation/call.ts'

/** What is held up, and why; empty when all is well. */
export type TaskTroubles = ReadonlyMap<string, string>

export type RetriedTask = {
  readonly name: string
  run(call: Pick<Call, 'log' | 'signal' | 'trace'>): Promise<void>
  health(): Promise<{ ok: boolean; detail: string }>
}

/** A refusal that `work` throws holds up `all` of it. Anything else is a fault, which the worker's own log tells. */
export function retriedTask(
  name: string,
  all: string,
  work: (signal: AbortSignal) => Promise<TaskTroubles>,
): RetriedTask {
  let known: TaskTroubles = new Map()
  return {
    name,
    async run({ log, signal, trace: { trace_id } }) {
      const found = await work(signal).catch((error: unknown): TaskTroubles => {
        if (isRefusal(error)) return new Map([[all, error.message]])
        known = new Map([[all, 'it failed; see the log']])
        throw error
      })
      for (const [held_up, why] of found) {
        if (known.get(held_up) !== why) log.error('platform.cluster.trouble', { trace_id, work: name, held_up, why })
      }
      for (const held_up of known.keys()) {
        if (!found.has(held_up)) log.info('platform.cluster.mended', { trace_id, work: name, held_up })
      }
      known = found
    },
    async health() {
      const troubles = [...known].map(([held_up, why]) => `${held_up}: ${why}`)
      return { ok: known.size === 0, detail: troubles.join('; ') || 'ok' }
    },
  }
}
