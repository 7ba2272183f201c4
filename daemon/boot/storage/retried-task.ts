// A task for a cluster that is retried until it succeeds: logs each trouble once, and reports it in health until it ends.

import { isRefusal } from '../../kernel/error/errors.ts'
import type { Call } from '../../kernel/operation/call.ts'

/** Reason for each blocked subject; empty if there is no trouble. */
export type TaskTroubles = ReadonlyMap<string, string>

export type RetriedTask = {
  readonly name: string
  run(call: Pick<Call, 'log' | 'signal' | 'trace'>): Promise<void>
  health(): Promise<{ ok: boolean; detail: string }>
}

/** A refusal of `work` blocks its whole `scope`. Other errors are defects, which the worker logs. */
export function retriedTask(
  name: string,
  scope: string,
  work: (signal: AbortSignal) => Promise<TaskTroubles>,
): RetriedTask {
  let current: TaskTroubles = new Map()
  return {
    name,
    async run({ log, signal, trace: { trace_id } }) {
      const latest = await work(signal).catch((error: unknown): TaskTroubles => {
        if (isRefusal(error)) return new Map([[scope, error.message]])
        current = new Map([[scope, 'it failed; see the log']])
        throw error
      })
      for (const [held_up, reason] of latest) {
        if (current.get(held_up) !== reason)
          log.error('platform.cluster.failing', { trace_id, work: name, held_up, why: reason })
      }
      for (const held_up of current.keys()) {
        if (!latest.has(held_up)) log.info('platform.cluster.recovered', { trace_id, work: name, held_up })
      }
      current = latest
    },
    async health() {
      const troubles = [...current].map(([held_up, reason]) => `${held_up}: ${reason}`)
      return { ok: current.size === 0, detail: troubles.join('; ') || 'ok' }
    },
  }
}
