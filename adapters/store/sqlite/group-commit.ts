// Group commit: writes that wait together share one transaction, hence one fsync, and are answered after it.
import type Database from 'better-sqlite3'
import { isEnvironmentError, storeUnavailable, toRefusal } from './failure.ts'

/**
 * A write: runs synchronously inside a transaction, after the jobs queued before it and seeing what they wrote.
 * It may run again when another job of its transaction fails, so it must keep nothing outside the database that
 * `onReset` does not undo.
 */
export type WriteJob<T> = (db: Database.Database) => T

type QueuedJob = {
  readonly run: WriteJob<unknown>
  readonly resolve: (value: unknown) => void
  readonly reject: RejectCallback
}
type RejectCallback = (error: unknown) => void
type JobOutcome = { readonly value: unknown } | { readonly error: unknown }

/** Bounds on one transaction, so that neither memory nor the event loop's pause grows with the queue. */
const max_jobs = 512
const max_transaction_ms = 10

/** Turns of the event loop that a growing queue is waited for: sockets that are readable now are read by then. */
const max_turns = 4

export class GroupCommit {
  readonly #db: Database.Database
  readonly #begin: Database.Statement
  readonly #commit: Database.Statement
  readonly #changes: Database.Statement<[], number>
  readonly #version: Database.Statement<[], number>
  readonly #resets: (() => void)[] = []
  readonly #beforeCommitCallbacks: (() => void)[] = []
  #queue: QueuedJob[] = []
  #isScheduled = false
  #isClosed = false
  #knownVersion: number | undefined

  constructor(db: Database.Database) {
    this.#db = db
    this.#begin = db.prepare('BEGIN IMMEDIATE')
    this.#commit = db.prepare('COMMIT')
    this.#changes = db.prepare<[], number>('SELECT total_changes()').pluck()
    this.#version = db.prepare<[], number>('PRAGMA data_version').pluck()
    this.#knownVersion = this.#version.get()
  }

  /** Called when what was read may no longer hold: after a rollback, or a commit by another process. */
  onReset(forget: () => void): void {
    this.#resets.push(forget)
  }

  /** Called in each transaction, after its jobs. */
  beforeCommit(last: () => void): void {
    this.#beforeCommitCallbacks.push(last)
  }

  /** Resolves with the job's result once it is durable; rejects with what the job threw, or `Refusal('unavailable')`. */
  write<T>(job: WriteJob<T>): Promise<T> {
    if (this.#isClosed) return Promise.reject(storeUnavailable('closed'))
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({ run: job, resolve: resolve as (value: unknown) => void, reject })
      if (!this.#isScheduled) this.#schedule(0, 0)
    })
  }

  /** Reads between transactions, so that only durable data is visible. */
  read<T>(job: WriteJob<T>): T {
    if (this.#isClosed) throw storeUnavailable('closed')
    try {
      this.#detectForeignCommits()
      return job(this.#db)
    } catch (error) {
      throw toRefusal(error)
    }
  }

  /** Commits queued writes, then closes the database. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    while (this.#queue.length > 0) this.#flush()
    this.#db.close()
  }

  #schedule(seen: number, turns: number): void {
    this.#isScheduled = true
    setImmediate(() => {
      const waiting = this.#queue.length
      if (waiting > seen && waiting < max_jobs && turns < max_turns) return this.#schedule(waiting, turns + 1)
      this.#isScheduled = false
      this.#flush()
      if (this.#queue.length > 0) this.#schedule(this.#queue.length, max_turns)
    })
  }

  #flush(): void {
    const started = performance.now()
    const ran: [QueuedJob, JobOutcome][] = []
    let blamed = max_jobs
    try {
      this.#open()
      while (
        ran.length < this.#queue.length &&
        ran.length < max_jobs &&
        performance.now() - started < max_transaction_ms
      ) {
        const job = this.#queue[ran.length] as QueuedJob
        blamed = ran.length + 1
        const outcome = this.#runOne(job)
        if (outcome === 'half-written') return
        ran.push([job, outcome])
      }
      blamed = ran.length
      for (const last of this.#beforeCommitCallbacks) last()
      this.#commit.run()
    } catch (error) {
      this.#rollback()
      for (const job of this.#queue.splice(0, blamed)) job.reject(toRefusal(error))
      return
    }
    this.#queue = this.#queue.slice(ran.length)
    for (const [job, outcome] of ran) resolveJob(job, outcome)
  }

  #open(): void {
    // Left open only when a rollback failed with the disk.
    if (this.#db.inTransaction) this.#db.exec('ROLLBACK')
    this.#begin.run()
    this.#detectForeignCommits()
  }

  /**
   * A refusal is an outcome like any other: reported after the commit, since it may rest on what the same transaction
   * wrote. A job that throws after it wrote is taken out, and the rest of the transaction runs again without it.
   */
  #runOne(job: QueuedJob): JobOutcome | 'half-written' {
    const before = this.#changes.get()
    try {
      return { value: job.run(this.#db) }
    } catch (error) {
      if (isEnvironmentError(error) || !this.#db.inTransaction) throw error
      if (this.#changes.get() === before) return { error }
      this.#rollback()
      this.#queue = this.#queue.filter((other) => other !== job)
      job.reject(error)
      return 'half-written'
    }
  }

  #rollback(): void {
    try {
      if (this.#db.inTransaction) this.#db.exec('ROLLBACK')
    } catch {
      // The disk is failing; the next transaction begins by trying again.
    }
    for (const forget of this.#resets) forget()
  }

  #detectForeignCommits(): void {
    const version = this.#version.get()
    if (version === this.#knownVersion) return
    this.#knownVersion = version
    for (const forget of this.#resets) forget()
  }
}

function resolveJob(job: QueuedJob, outcome: JobOutcome): void {
  if ('error' in outcome) job.reject(outcome.error)
  else job.resolve(outcome.value)
}
