// Tasks for a cluster that are retried until they succeed, each kind by itself: a fault is logged once, and health
// shows it while it lasts.

import { isRefusal } from '../../kernel/error/errors.ts'
import type { Call } from '../../kernel/operation/call.ts'

/** Pending work and the reason; empty when there is none. */
export type TaskTroubles = ReadonlyMap<string, string>

export type RetriedTask = {
  readonly name: string
  run(call: Pick<Call, 'log' | 'signal' | 'trace'>): Promise<void>
  health(): Promise<{ ok: boolean; detail: string }>
}

/** A refusal that `work` throws holds up `all` of it. Any other error is a defect, which the worker logs. */
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
