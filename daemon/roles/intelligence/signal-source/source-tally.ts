// Counts of each source since the last write to the store, kept in memory so that no delivery waits for the store.
import type { FieldError } from '../../../kernel/error/errors.ts'
import { shortenText } from '../../../kernel/text/shorten-text.ts'
import { type SourceCounts, zeroCounts } from './model.ts'

export type IntakeOutcome = 'taken' | 'repeated' | 'refused' | 'failed'

export class SourceTally {
  readonly #counts = new Map<string, SourceCounts>()
  #flushes = 0
  #flushing: Promise<void> | undefined

  /** `at`: RFC 3339. */
  recordSuccess(source: string, { taken, repeated }: { taken: number; repeated: number }, at: string): void {
    this.#add(source, { ...zeroCounts, taken, repeated, last_success_at: at })
  }

  count(source: string, outcome: 'taken' | 'repeated'): void {
    this.#add(source, { ...zeroCounts, [outcome]: 1 })
  }

  /** `refused`: an item was not a signal; `failed`: no item could be read. */
  recordFailure(source: string, as: 'refused' | 'failed', failure: IntakeFailure, at: string): void {
    const first = failure.errors?.slice(0, 3).map(({ path, message }) => `${path}: ${message}`)
    const detail = shortenText([failure.message, ...(first ?? [])].join('; '), 1_024)
    this.#add(source, { ...zeroCounts, [as]: 1, last_error: { at, code: failure.code, detail } })
  }

  countsOf(source: string): SourceCounts {
    return this.#counts.get(source) ?? zeroCounts
  }

  /** Reads from the store while no flush is under way, so that no count is missed or added twice. */
  async readBetweenFlushes<T>(read: () => Promise<T>): Promise<T> {
    for (;;) {
      await this.#flushing
      const before = this.#flushes
      const result = await read()
      if (this.#flushes === before) return result
    }
  }

  /** Writes all counts and clears them here; counts that could not be written stay. */
  async flush(write: (source: string, tallied: SourceCounts) => Promise<void>): Promise<void> {
    for (const source of [...this.#counts.keys()]) {
      // Read now: more may have been counted while earlier sources were written.
      const tallied = this.countsOf(source)
      this.#counts.delete(source)
      this.#flushes += 1
      const writing = write(source, tallied).catch((error: unknown) => {
        this.#counts.set(source, addCounts(tallied, this.countsOf(source)))
        throw error
      })
      this.#flushing = writing.catch(() => undefined)
      await writing
    }
  }

  #add(source: string, counts: SourceCounts): void {
    this.#counts.set(source, addCounts(this.countsOf(source), counts))
  }
}

type IntakeFailure = { readonly code: string; readonly message: string; readonly errors?: readonly FieldError[] }

/** Adds the counts; last success and last error are those of the later value. */
export function addCounts(first: SourceCounts, later: SourceCounts): SourceCounts {
  const last_success_at = later.last_success_at ?? first.last_success_at
  const last_error = later.last_error ?? first.last_error
  return {
    taken: first.taken + later.taken,
    repeated: first.repeated + later.repeated,
    refused: first.refused + later.refused,
    failed: first.failed + later.failed,
    ...(last_success_at === undefined ? {} : { last_success_at }),
    ...(last_error === undefined ? {} : { last_error }),
  }
}
