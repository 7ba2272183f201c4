// Ticks of the scheduler DAG, as workers of Airflow write them into the folder that they share with the site.
import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import { parseJsonAs } from '../../../kernel/encoding/parse-json.ts'
import { isRefusal, Refusal } from '../../../kernel/error/errors.ts'
import type { DependencyFinding } from '../../../kernel/role/dependency.ts'
import type { Log } from '../../../kernel/telemetry/log.ts'
import {
  max_tick_bytes,
  scheduleTick,
  tickFileName,
  ticks_folder,
} from '../../../shared/schedule-tick/schedule-tick.ts'
import type { ScheduleTicks } from '../../../shared/workflow-scheduler/workflow-scheduler.ts'
import { readUntrustedFile, UntrustedFileError } from '../handover/untrusted-file.ts'

export type TickOptions = {
  /** That workers share with the site. */
  readonly folder: string
  readonly site: string
  readonly interval_ms: number
  /** Writes the DAG. Throws `Refusal('unavailable')`. */
  readonly install: () => Promise<void>
  readonly now: () => number
  readonly log: Pick<Log, 'info' | 'warn'>
}

/** `find`: the health by the time of the newest tick that the site has noticed; the log has each change of it. */
export interface WatchedTicks extends ScheduleTicks {
  find(noticed_ts: number | undefined): DependencyFinding
}

/** Ticks that may be missing one after the other: one is late where Airflow is busy. */
const missing_intervals = 2

export function scheduleTicks({ folder, site, interval_ms, install, now, log }: TickOptions): WatchedTicks {
  const opened_ts = now()
  let isInstalled = false
  let fault: string | undefined
  let logged = 'ok'
  const guard = async <T>(action: () => Promise<T>): Promise<T> => {
    try {
      const result = await action()
      fault = undefined
      return result
    } catch (error) {
      if (isRefusal(error)) fault = error.message
      throw error
    }
  }
  const judge = (noticed_ts: number | undefined): DependencyFinding => {
    if (fault !== undefined) return { state: 'degraded', detail: fault }
    if (noticed_ts !== undefined && noticed_ts > now())
      return { state: 'degraded', detail: 'the clock was put back: schedules wait for the next tick' }
    const since = Math.max(noticed_ts ?? 0, opened_ts)
    if (now() - since <= missing_intervals * interval_ms)
      return { state: 'ok', detail: noticed_ts === undefined ? 'no tick yet' : `tick ${describeTime(noticed_ts)}` }
    const last = noticed_ts === undefined ? 'ever' : `since ${describeTime(noticed_ts)}`
    const detail = `no tick of the scheduler DAG ${last}: no schedule is evaluated; is the DAG paused, or does its task fail?`
    return { state: 'degraded', detail }
  }
  return {
    async look() {
      return await guard(async () => {
        if (!isInstalled) await install()
        isInstalled = true
        return await readTick(folder, site)
      })
    },
    find(noticed_ts) {
      const finding = judge(noticed_ts)
      const { state, detail } = finding
      const change = state === 'ok' ? state : detail
      if (change !== logged && state === 'ok') log.info('ingest.schedule.ticks', { detail })
      if (change !== logged && state !== 'ok') log.warn('ingest.schedule.ticks-missing', { detail })
      logged = change
      return finding
    },
  }
}

function describeTime(ts: number): string {
  return new Date(ts).toISOString()
}

/** Undefined before the first tick. */
async function readTick(folder: string, site: string): Promise<string | undefined> {
  const ticks = join(folder, ticks_folder)
  try {
    if (!(await lstat(ticks)).isDirectory()) throw describeFault('its folder is not a folder')
    const bytes = await readUntrustedFile(join(ticks, tickFileName(site)), max_tick_bytes)
    return parseTick(bytes.toString(), site)
  } catch (error) {
    if (isRefusal(error)) throw error
    if (error instanceof UntrustedFileError && !error.isAbsent) throw describeFault(error.message)
    const { code = 'ENOENT' } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    throw describeFault(code)
  }
}

function parseTick(text: string, site: string): string {
  const tick = parseJsonAs(scheduleTick, text)
  if (!tick || tick.site !== site) throw describeFault('it is not one of this site')
  const at = new Date(tick.at).toISOString()
  // By its offset, a time may be of a year that has more than four digits.
  if (!/^\d{4}-/.test(at)) throw describeFault('its time is not one of the years 0 to 9999')
  return at
}

function describeFault(reason: string): Refusal {
  return new Refusal('unavailable', `the tick of the scheduler DAG cannot be read: ${reason}; see ingest.worker_folder`)
}
