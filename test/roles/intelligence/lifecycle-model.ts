// What signals and insights must be, told a second time in few lines: the interface's table without the product's rules.

export type Status = 'new' | 'acknowledged' | 'investigating' | 'resolved' | 'dismissed'
export type State = 'open' | 'investigating' | 'closed'

/** Document 001 part C, table of the lifecycle: `from to`. */
const steps = new Set([
  ...['new acknowledged', 'new investigating', 'new dismissed', 'acknowledged investigating'],
  ...['acknowledged dismissed', 'investigating resolved', 'investigating dismissed'],
])

export function isStep(from: Status, to: Status): boolean {
  return steps.has(`${from} ${to}`)
}

export const isFinal = (status: Status) => status === 'resolved' || status === 'dismissed'

export type SignalModel = {
  status: Status
  /** `from to`, links included. */
  history: string[]
  archived: boolean
  expired: boolean
  links: number[]
  resolved_by?: { insight: number; edition: number }
}

export type InsightModel = {
  state: State
  links: number[]
  editions: { closes: boolean; attested: boolean }[]
  /** Every event once, in any order but that of one signal. */
  ledger: string[]
}

/** Mutable, as fast-check's models are. Refusals are codes of the interface; undefined is a success. */
export class LifecycleModel {
  readonly signals: SignalModel[] = []
  readonly insights: InsightModel[] = []

  raise(): void {
    this.signals.push({ status: 'new', history: [], archived: false, expired: false, links: [] })
  }

  move(at: number, to: Status): string | undefined {
    const signal = this.signal(at)
    if (!isStep(signal.status, to)) return 'wrong_state'
    this.#enter(at, to)
    return undefined
  }

  archive(at: number): string | undefined {
    const refused = this.move(at, 'dismissed')
    if (!refused) this.signal(at).archived = true
    return refused
  }

  open(at: number): void {
    const insight: InsightModel = { state: 'open', links: [], editions: [], ledger: [`insight_opened ${at}`] }
    this.insights.push(insight)
    this.#link(at, this.insights.length - 1)
  }

  link(at: number, to: number): string | undefined {
    const insight = this.insight(to)
    if (insight.links.includes(at)) return undefined
    if (insight.state === 'closed') return 'wrong_state'
    this.#link(at, to)
    return undefined
  }

  start(to: number): string | undefined {
    const insight = this.insight(to)
    if (insight.state !== 'open') return 'wrong_state'
    insight.state = 'investigating'
    insight.ledger.push('investigation_started')
    for (const at of insight.links)
      if (isStep(this.signal(at).status, 'investigating')) this.#enter(at, 'investigating')
    return undefined
  }

  draft(to: number, closes: boolean): string | undefined {
    const insight = this.insight(to)
    if (insight.state === 'closed') return 'wrong_state'
    insight.editions.push({ closes, attested: false })
    return undefined
  }

  attest(to: number, number: number): string | undefined {
    const insight = this.insight(to)
    const edition = insight.editions[number]
    if (!edition) return 'not_found'
    if (edition.attested || insight.state === 'closed') return 'wrong_state'
    const waiting = insight.links.filter((at) => ['new', 'acknowledged'].includes(this.signal(at).status))
    if (edition.closes && (insight.state !== 'investigating' || waiting.length > 0)) return 'wrong_state'
    edition.attested = true
    insight.ledger.push(`edition_attested ${number}`)
    if (!edition.closes) return undefined
    for (const at of insight.links) {
      if (this.signal(at).status !== 'investigating') continue
      this.#enter(at, 'resolved')
      this.signal(at).resolved_by = { insight: to, edition: number }
    }
    this.#close(insight)
    return undefined
  }

  close(to: number): string | undefined {
    const insight = this.insight(to)
    if (insight.state === 'closed' || insight.links.some((at) => !isFinal(this.signal(at).status))) return 'wrong_state'
    this.#close(insight)
    return undefined
  }

  /** Every signal's time is over. */
  expire(): void {
    for (const signal of this.signals) if (!isFinal(signal.status)) signal.expired = true
  }

  signal(at: number): SignalModel {
    return this.signals[at] ?? fail(at)
  }

  insight(at: number): InsightModel {
    return this.insights[at] ?? fail(at)
  }

  #enter(at: number, to: Status): void {
    const signal = this.signal(at)
    const step = `${signal.status} ${to}`
    signal.history.push(step)
    signal.status = to
    for (const each of signal.links) this.insight(each).ledger.push(`signal_disposition_set ${at} ${step}`)
  }

  #link(at: number, to: number): void {
    const signal = this.signal(at)
    signal.history.push(`${signal.status} ${signal.status}`)
    signal.links.push(to)
    this.insight(to).links.push(at)
    this.insight(to).ledger.push(`signal_linked ${at} ${signal.status}`)
  }

  #close(insight: InsightModel): void {
    insight.state = 'closed'
    insight.ledger.push('insight_closed')
  }
}

function fail(at: number): never {
  throw new Error(`there is no number ${at}`)
}
