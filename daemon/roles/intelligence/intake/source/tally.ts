// What has come from each source since the store was last told: counted in memory, so that no delivery waits for it.
import type { FieldError } from '../../../../kernel/errors.ts'

export type Outcome = 'taken' | 'repeated' | 'refused' | 'failed'

export type Tallied = {
  readonly taken: number
  readonly repeated: number
  readonly refused: number
  readonly failed: number
  readonly last_success_at?: string
  readonly last_error?: { readonly at: string; readonly code: string; readonly detail: string }
}

export const nothing: Tallied = { taken: 0, repeated: 0, refused: 0, failed: 0 }

export class Tally {
  readonly #held = new Map<string, Tallied>()
  #moves = 0
  #moving: Promise<void> | undefined

  /** `at`: RFC 3339. */
  succeeded(source: string, { taken, repeated }: { taken: number; repeated: number }, at: string): void {
    this.#add(source, { ...nothing, taken, repeated, last_success_at: at })
  }

  counted(source: string, outcome: 'taken' | 'repeated'): void {
    this.#add(source, { ...nothing, [outcome]: 1 })
  }

  /** `refused`: what came is no signal; `failed`: nothing could be taken at all. */
  failed(source: string, as: 'refused' | 'failed', why: Why, at: string): void {
    const first = why.errors?.slice(0, 3).map(({ path, message }) => `${path}: ${message}`)
    const detail = [why.message, ...(first ?? [])].join('; ').slice(0, 1_024)
    this.#add(source, { ...nothing, [as]: 1, last_error: { at, code: why.code, detail } })
  }

  of(source: string): Tallied {
    return this.#held.get(source) ?? nothing
  }

  /** Reads something of the store while nothing is on its way there: so no count is missed, and none is told twice. */
  async besides<T>(read: () => Promise<T>): Promise<T> {
    for (;;) {
      await this.#moving
      const before = this.#moves
      const found = await read()
      if (this.#moves === before) return found
    }
  }

  /** Writes everything so far, which is then no longer held here; what could not be written is held on. */
  async moved(write: (source: string, tallied: Tallied) => Promise<void>): Promise<void> {
    for (const source of [...this.#held.keys()]) {
      // As it is now: more may have come while those before it were written.
      const tallied = this.of(source)
      this.#held.delete(source)
      this.#moves += 1
      const writing = write(source, tallied).catch((error: unknown) => {
        this.#held.set(source, sum(tallied, this.of(source)))
        throw error
      })
      this.#moving = writing.catch(() => undefined)
      await writing
    }
  }

  #add(source: string, more: Tallied): void {
    this.#held.set(source, sum(this.of(source), more))
  }
}

type Why = { readonly code: string; readonly message: string; readonly errors?: readonly FieldError[] }

/** Of the later one what is said of the last. */
export function sum(first: Tallied, later: Tallied): Tallied {
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
