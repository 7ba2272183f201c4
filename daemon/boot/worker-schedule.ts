// The schedule of one worker: when it is due by the clock of the process, and how far it is handled, on disk.
import {
  describeSchedule,
  findDueTime,
  type HandledTime,
  putBack,
  type ScheduleRecord,
  type ZonedSchedule,
} from '../kernel/schedule/due-time.ts'
import type { Log } from '../kernel/telemetry/log.ts'

/** The longest wait for a due time: the clock may jump meanwhile, or the machine may sleep. */
const max_wait_ms = 60_000
/** A run for a time this far ahead was made under a wrong clock. */
const far_ahead_ms = 86_400_000

export type WorkerScheduleOptions = {
  readonly worker: string
  /** Address of the worker, for the log. */
  readonly address: string
  readonly zoned: ZonedSchedule
  readonly record: ScheduleRecord
  /** Epoch milliseconds. */
  readonly now: () => number
  readonly log: Log
}

export class WorkerSchedule {
  readonly #options: WorkerScheduleOptions
  readonly #isNew: boolean
  #handled: HandledTime

  /** A schedule that is new to the site begins now: nothing has been missed. Throws if the record cannot be read. */
  constructor(options: WorkerScheduleOptions) {
    const { worker, zoned, record, now, address, log } = options
    const known = record.read(worker, describeSchedule(zoned))
    this.#options = options
    this.#isNew = known === undefined
    this.#handled = known ?? { due: 0, until: now() }
    if (this.#handled.due - now() <= far_ahead_ms) return
    const last_run_for = new Date(this.#handled.due).toISOString()
    log.warn(`${address}.ahead`, { schedule: describeSchedule(zoned), last_run_for })
  }

  /** Records the beginning of a new schedule. */
  async recordBeginning(): Promise<void> {
    if (this.#isNew) await this.#write(this.#handled)
  }

  /** Looks at the clock. */
  async isDue(): Promise<boolean> {
    const now = this.#options.now()
    if (now < this.#handled.until) await this.#write(putBack(this.#handled, now))
    return this.#nextDue() <= now
  }

  /** Milliseconds until the next look. */
  wait_ms(): number {
    return Math.min(Math.max(0, this.#nextDue() - this.#options.now()), max_wait_ms)
  }

  /** To be called when a run begins. Returns what to call once it is done, if the run was due. */
  begin(): (() => Promise<void>) | undefined {
    const until = this.#options.now()
    const due = this.#nextDue()
    return due > until ? undefined : () => this.#write({ due, until })
  }

  #nextDue(): number {
    return findDueTime(this.#options.zoned, this.#handled) ?? Number.POSITIVE_INFINITY
  }

  async #write(handled: HandledTime): Promise<void> {
    const { record, worker, zoned, log, address } = this.#options
    this.#handled = handled
    try {
      await record.write(worker, describeSchedule(zoned), handled)
    } catch (error) {
      log.error(`${address}.unrecorded`, { error: String(error) })
    }
  }
}
