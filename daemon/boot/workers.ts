// Runs a role's workers: each at its own time, sooner when woken, never twice at once.
import { runOnSchedule } from '../../adapters/host/schedule/cron.ts'
import type { Call } from '../kernel/operation/call.ts'
import type { Worker } from '../kernel/role/role.ts'
import type { ResolvedSettings } from '../kernel/settings/settings.ts'
import type { Log } from '../kernel/telemetry/log.ts'

export type RunningWorkers = {
  wake(name: string): void
  /** Lets runs under way end, after asking them to. */
  stop(): Promise<void>
}

export function startWorkers(
  role: string,
  workers: readonly Worker[],
  settings: ResolvedSettings,
  log: Log,
  newCall: (address: string, signal: AbortSignal) => Call,
): RunningWorkers {
  const stopping = new AbortController()
  const loops = new Map(
    workers.map((worker) => {
      const address = `${role}.worker.${worker.name}`
      return [
        worker.name,
        runWorkerLoop(worker, settings, stopping.signal, log, address, () => newCall(address, stopping.signal)),
      ] as const
    }),
  )
  return {
    wake: (name) => loops.get(name)?.wake(),
    async stop() {
      stopping.abort()
      await Promise.all([...loops.values()].map((running) => running.ended))
    },
  }
}

function runWorkerLoop(
  worker: Worker,
  settings: ResolvedSettings,
  signal: AbortSignal,
  log: Log,
  address: string,
  newCall: () => Call,
) {
  const { when } = worker
  let woken = 'every_ms' in when
  let rouse: () => void = () => undefined
  const wake = () => {
    woken = true
    rouse()
  }
  const expression = 'cron' in when ? when.cron(settings) : undefined
  const schedule = expression ? runOnSchedule(expression, wake) : undefined
  signal.addEventListener('abort', () => {
    // Not after the last run: one that hangs must not keep the process alive by its schedule.
    schedule?.stop()
    wake()
  })

  const run = async () => {
    while (!signal.aborted) {
      if (!woken) await waitUntilRoused('every_ms' in when ? when.every_ms : undefined, (resolve) => (rouse = resolve))
      woken = false
      if (signal.aborted) break
      const call = newCall()
      try {
        await worker.run(call)
      } catch (error) {
        const { trace_id, span_id } = call.trace
        const why = error instanceof Error ? (error.stack ?? error.message) : String(error)
        log.error(`${address}.failed`, { error: why, trace_id, span_id })
      }
    }
  }
  return { wake, ended: run() }
}

function waitUntilRoused(limit_ms: number | undefined, register: (rouse: () => void) => void): Promise<void> {
  return new Promise((resolve) => {
    const timer = limit_ms === undefined ? undefined : setTimeout(resolve, limit_ms)
    register(() => {
      clearTimeout(timer)
      resolve()
    })
  })
}
