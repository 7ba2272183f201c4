// Runs the workers of a role: each on its schedule or when woken, never twice at once.
import { runOnSchedule } from '../../adapters/host/schedule/cron.ts'
import type { Call } from '../kernel/operation/call.ts'
import type { Worker } from '../kernel/role/role.ts'
import type { ResolvedSettings } from '../kernel/settings/settings.ts'
import type { Log } from '../kernel/telemetry/log.ts'

export type RunningWorkers = {
  wake(name: string): void
  /** Signals active runs to stop, and waits for them. */
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
      await Promise.all([...loops.values()].map((loop) => loop.ended))
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
  let isWoken = 'every_ms' in when
  let wakeWaiting: () => void = () => undefined
  const wake = () => {
    isWoken = true
    wakeWaiting()
  }
  const expression = 'cron' in when ? when.cron(settings) : undefined
  const schedule = expression ? runOnSchedule(expression, wake) : undefined
  signal.addEventListener('abort', () => {
    // Stopped at once: the schedule of a hanging run must not keep the process alive.
    schedule?.stop()
    wake()
  })

  const run = async () => {
    while (!signal.aborted) {
      if (!isWoken)
        await waitUntilRoused('every_ms' in when ? when.every_ms : undefined, (resolve) => (wakeWaiting = resolve))
      isWoken = false
      if (signal.aborted) break
      const call = newCall()
      try {
        await worker.run(call)
      } catch (error) {
        const { trace_id, span_id } = call.trace
        const errorText = error instanceof Error ? (error.stack ?? error.message) : String(error)
        log.error(`${address}.failed`, { error: errorText, trace_id, span_id })
      }
    }
  }
  return { wake, ended: run() }
}

function waitUntilRoused(limit_ms: number | undefined, register: (wakeWaiting: () => void) => void): Promise<void> {
  return new Promise((resolve) => {
    const timer = limit_ms === undefined ? undefined : setTimeout(resolve, limit_ms)
    register(() => {
      clearTimeout(timer)
      resolve()
    })
  })
}
