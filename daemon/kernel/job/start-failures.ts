// Logs what keeps jobs from starting: each failure once for as long as it lasts, since it is met again every second.
import { isRefusal } from '../error/errors.ts'
import type { Call } from '../operation/call.ts'
import type { AnyJobKind } from './job.ts'
import { addressOf, traceOf } from './job-attempt.ts'

export class StartFailures {
  readonly #role: string
  readonly #lasting = new Set<string>()

  constructor(role: string) {
    this.#role = role
  }

  /** `job`: the only one that cannot start; absent: none of the kind can. */
  report(call: Call, kind: AnyJobKind, error: unknown, job?: string): void {
    const key = keyOf(kind, job)
    if (this.#lasting.has(key)) return
    this.#lasting.add(key)
    const level = isRefusal(error) && error.row.retryable ? 'warn' : 'error'
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
    const address = addressOf({ environment: { role: this.#role }, kind })
    call.log[level](`${address}.not-started`, { ...traceOf(call), ...(job ? { job } : {}), error: text })
  }

  clear(kind: AnyJobKind, job?: string): void {
    this.#lasting.delete(keyOf(kind, job))
  }
}

function keyOf({ name }: AnyJobKind, job: string | undefined): string {
  return job === undefined ? name : `${name}/${job}`
}
