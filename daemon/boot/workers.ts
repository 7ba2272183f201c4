// Runs the workers of a role: each on its schedule or when woken, never twice at once.
import { parseSchedule } from '../../adapters/host/schedule/cron.ts'
import { isRefusal } from '../kernel/error/errors.ts'
import type { Call } from '../kernel/operation/call.ts'
import type { Worker } from '../kernel/role/role.ts'
import type { ScheduleRecord } from '../kernel/schedule/due-time.ts'
import type { ResolvedSettings } from '../kernel/settings/settings.ts'
import type { Log } from '../kernel/telemetry/log.ts'
import { WorkerSchedule } from './worker-schedule.ts'

/** Wait before a due run is repeated that a part of the site held up. */
const retry_wait_ms = 60_000

export type RunningWorkers = {
  /** Throws for a name that no worker has. */
  wake(name: string): void
  /** Signals active runs to stop, and waits for them. */
  stop(): Promise<void>
}

export type WorkerOptions = {
  readonly role: string
  readonly workers: readonly Worker[]
  readonly settings: ResolvedSettings
  readonly log: Log
  /** How far the schedules of the workers are handled. */
  readonly record: ScheduleRecord
  /** Epoch milliseconds. */
  readonly now: () => number
  readonly newCall: (address: string, signal: AbortSignal) => Call
}

/** Throws if two workers have one name, which is also that of a schedule on disk. */
export function startWorkers(options: WorkerOptions): RunningWorkers {
  const names = options.workers.map(({ name }) => name)
  const repeated = names.find((name, at) => names.indexOf(name) !== at)
  if (repeated !== undefined) throw new TypeError(`the role ${options.role} has two workers named "${repeated}"`)
  const stopping = new AbortController()
  const loops = new Map(
    options.workers.map((worker) => [worker.name, runWorkerLoop(worker, options, stopping.signal)] as const),
  )
  return {
    wake(name) {
      const loop = loops.get(name)
      if (!loop) throw new TypeError(`the role ${options.role} has no worker "${name}"; it has ${names.join(', ')}`)
      loop.wake()
    },
    async stop() {
      stopping.abort()
      await Promise.all([...loops.values()].map((loop) => loop.ended))
    },
  }
}

function runWorkerLoop(worker: Worker, options: WorkerOptions, signal: AbortSignal) {
  const { when } = worker
  const address = `${options.role}.worker.${worker.name}`
  const schedule = openSchedule(worker, address, options)
  let isWoken = 'every_ms' in when
  let wakeWaiting: () => void = () => undefined
  const wake = () => {
    isWoken = true
    wakeWaiting()
  }
  signal.addEventListener('abort', wake)

  const waitForTurn = async () => {
    for (;;) {
      if (schedule && (await schedule.isDue())) return
      // Also woken while the schedule was read.
      if (isWoken) return
      const wait_ms = 'every_ms' in when ? when.every_ms : schedule?.wait_ms()
      await waitUntilRoused(wait_ms, (resolve) => (wakeWaiting = resolve))
      if ('every_ms' in when) return
    }
  }
  const run = async () => {
    if (schedule) await schedule.recordBeginning()
    while (!signal.aborted) {
      if (!isWoken) await waitForTurn()
      isWoken = false
      if (signal.aborted) break
      const complete = schedule?.begin()
      const isHeldUp = await runOnce(worker, options.newCall(address, signal), options.log)
      // A run that a stop has cut short is made again after the next start.
      if (signal.aborted) break
      if (!isHeldUp) await complete?.()
      else if (complete && !isWoken) await waitUntilRoused(retry_wait_ms, (resolve) => (wakeWaiting = resolve))
    }
  }
  return { wake, ended: run() }
}

/** Throws for a schedule that the start checks should have refused. */
function openSchedule(
  { name, when }: Worker,
  address: string,
  { settings, log, record, now }: WorkerOptions,
): WorkerSchedule | undefined {
  const cron = 'cron' in when ? when.cron(settings) : undefined
  if (!cron) return undefined
  const schedule = parseSchedule(cron.expression)
  if (isRefusal(schedule)) throw schedule
  return new WorkerSchedule({ worker: name, address, zoned: { schedule, zone: cron.zone }, record, now, log })
}

/** Returns whether the run failed by what a later one may find cured, such as a store that did not answer. */
async function runOnce(worker: Worker, call: Call, log: Log): Promise<boolean> {
  try {
    await worker.run(call)
    return false
  } catch (error) {
    const { trace_id, span_id } = call.trace
    const errorText = error instanceof Error ? (error.stack ?? error.message) : String(error)
    log.error(`${call.address}.failed`, { error: errorText, trace_id, span_id })
    return isRefusal(error) && error.row.retryable
  }
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
