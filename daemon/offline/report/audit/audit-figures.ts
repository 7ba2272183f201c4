// Counts audit records while they are read, in a bounded memory: any number of records, actions and names.
import type { AuditRecord } from '../../../kernel/audit/audit-chain.ts'
import { abridge } from '../../../shared/report/markup.ts'

/** A record as the page lists it. */
export type ListedAuditRecord = {
  readonly writer: string
  readonly seq: number
  readonly at: string
  readonly action: string
  readonly outcome: 'done' | 'refused'
  readonly subject: string
  readonly target: string
}

export type AuditOutcomes = { done: number; refused: number }

/** Counts of the most frequent names; `others`: records of names beyond the first `max_names` that appeared. */
export type NameCounts = { readonly names: ReadonlyMap<string, AuditOutcomes>; readonly others: AuditOutcomes }

export type AuditFigures = {
  readonly records: number
  /** Records whose event has expired: only their digest is left. */
  readonly expired: number
  readonly outcomes: AuditOutcomes
  readonly actions: NameCounts
  readonly subjects: NameCounts
  readonly roles: NameCounts
  /** Counts by hour since 1970. */
  readonly hours: ReadonlyMap<number, AuditOutcomes>
  /** Records of hours that found no place among `max_hours`. */
  readonly beyond_hours: number
  readonly newest: readonly ListedAuditRecord[]
  readonly newest_refused: readonly ListedAuditRecord[]
}

const max_names = 5_000
const max_hours = 100_000
const max_listed = 100
const max_name_characters = 200
const hour_ms = 3_600_000

class NameCounter {
  readonly names = new Map<string, AuditOutcomes>()
  readonly others: AuditOutcomes = { done: 0, refused: 0 }

  count(name: string, outcome: keyof AuditOutcomes): void {
    const key = abridge(name, max_name_characters)
    let counts = this.names.get(key)
    if (!counts && this.names.size < max_names) {
      counts = { done: 0, refused: 0 }
      this.names.set(key, counts)
    }
    ;(counts ?? this.others)[outcome]++
  }
}

/** The newest of a stream whose order is that of each chain, not of time. */
class NewestList {
  #items: ListedAuditRecord[] = []

  take(record: ListedAuditRecord): void {
    this.#items.push(record)
    if (this.#items.length >= 20 * max_listed) this.#items = this.list()
  }

  list(): ListedAuditRecord[] {
    const byTime = (a: ListedAuditRecord, b: ListedAuditRecord) => (a.at < b.at ? 1 : a.at > b.at ? -1 : b.seq - a.seq)
    return this.#items.toSorted(byTime).slice(0, max_listed)
  }
}

export class AuditCounter {
  #records = 0
  #expired = 0
  #beyond_hours = 0
  readonly #outcomes: AuditOutcomes = { done: 0, refused: 0 }
  readonly #actions = new NameCounter()
  readonly #subjects = new NameCounter()
  readonly #roles = new NameCounter()
  readonly #hours = new Map<number, AuditOutcomes>()
  readonly #newest = new NewestList()
  readonly #refused = new NewestList()

  take({ writer, seq, event }: AuditRecord): void {
    this.#records++
    if (!event) {
      this.#expired++
      return
    }
    const { at, action, outcome, subject, target } = event
    this.#outcomes[outcome]++
    this.#actions.count(action, outcome)
    this.#subjects.count(subject, outcome)
    this.#roles.count(writer, outcome)
    this.#countHour(Math.floor(Date.parse(at) / hour_ms), outcome)
    const [shown_subject, shown_target] = [abridge(subject, max_name_characters), abridge(target, max_name_characters)]
    const listed = { writer, seq, at, action, outcome, subject: shown_subject, target: shown_target }
    this.#newest.take(listed)
    if (outcome === 'refused') this.#refused.take(listed)
  }

  #countHour(hour: number, outcome: keyof AuditOutcomes): void {
    const counts = this.#hours.get(hour)
    if (counts) counts[outcome]++
    else if (this.#hours.size < max_hours) this.#hours.set(hour, { done: 0, refused: 0, [outcome]: 1 })
    else this.#beyond_hours++
  }

  figures(): AuditFigures {
    return {
      ...{ records: this.#records, expired: this.#expired, outcomes: this.#outcomes },
      ...{ actions: this.#actions, subjects: this.#subjects, roles: this.#roles },
      ...{ hours: this.#hours, beyond_hours: this.#beyond_hours },
      ...{ newest: this.#newest.list(), newest_refused: this.#refused.list() },
    }
  }
}
