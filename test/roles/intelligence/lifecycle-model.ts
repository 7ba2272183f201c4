// A second, short model of signals and insights: the interface's table without the product's rules.

export type ModelSignalStatus = 'new' | 'acknowledged' | 'investigating' | 'resolved' | 'dismissed'
export type ModelInsightState = 'open' | 'investigating' | 'closed'

/** Document 001 part C, table of the lifecycle: `from to`. */
const steps = new Set([
  ...['new acknowledged', 'new investigating', 'new dismissed', 'acknowledged investigating'],
  ...['acknowledged dismissed', 'investigating resolved', 'investigating dismissed'],
])

export function isStep(from: ModelSignalStatus, to: ModelSignalStatus): boolean {
  return steps.has(`${from} ${to}`)
}

export const isFinal = (status: ModelSignalStatus) => status === 'resolved' || status === 'dismissed'

export type SignalModel = {
  status: ModelSignalStatus
  /** `from to`, links included. */
  history: string[]
  archived: boolean
  expired: boolean
  links: number[]
  /** Came under a silence. */
  hushed: boolean
  merged?: number | undefined
  taken: number[]
  resolved_by?: { insight: number; edition: number }
}

export type InsightModel = {
  state: ModelInsightState
  links: number[]
  /** Linked signals to who stands for them, and to those that brought them where nobody linked them. */
  merged: Map<number, number>
  via: Map<number, number[]>
  editions: { closes: boolean; attested: boolean }[]
  /** Every event once, in any order but that of one signal. */
  ledger: string[]
}

/** Mutable, as fast-check's models are. Refusals are codes of the interface; undefined is a success. */
export class LifecycleModel {
  readonly signals: SignalModel[] = []
  readonly insights: InsightModel[] = []
  hasSilence = true

  raise(hushed: boolean): void {
    const fresh = { archived: false, expired: false, links: [], taken: [], hushed }
    this.signals.push({ status: 'new', history: [], ...fresh })
  }

  endSilence(): string | undefined {
    if (!this.hasSilence) return 'wrong_state'
    this.hasSilence = false
    return undefined
  }

  visibility(at: number): 'listed' | 'silenced' | 'merged' {
    const { merged, hushed, history, taken } = this.signal(at)
    if (merged === undefined && taken.length > 0) return 'listed'
    if (merged !== undefined) return 'merged'
    return hushed && !history.some((step) => /(acknowledged|investigating)$/.test(step)) ? 'silenced' : 'listed'
  }

  merge(at: number, into: number): string | undefined {
    const [signal, survivor] = [this.signal(at), this.signal(into)]
    if (at === into || survivor.merged !== undefined) return 'wrong_state'
    if (signal.merged !== undefined) return signal.merged === into ? undefined : 'wrong_state'
    if (isFinal(survivor.status) && !isFinal(signal.status)) return 'wrong_state'
    signal.merged = into
    survivor.taken.push(at)
    for (const each of [signal, survivor]) each.history.push(`${each.status} ${each.status}`)
    for (const each of signal.links) this.#stand(each, at, into)
    return undefined
  }

  #stand(to: number, at: number, into: number): void {
    const insight = this.insight(to)
    if (insight.state === 'closed') return
    insight.merged.set(at, into)
    insight.ledger.push(`signal_merged ${at} ${into}`)
    if (insight.links.includes(into)) return void insight.via.get(into)?.push(at)
    insight.links.push(into)
    insight.via.set(into, [at])
    const survivor = this.signal(into)
    insight.ledger.push(`signal_linked ${into} ${survivor.status}`)
    survivor.links.push(to)
    survivor.history.push(`${survivor.status} ${survivor.status}`)
  }

  unmerge(at: number): string | undefined {
    const signal = this.signal(at)
    const into = signal.merged
    if (into === undefined || this.signal(into).merged !== undefined) return 'wrong_state'
    const survivor = this.signal(into)
    signal.merged = undefined
    survivor.taken = survivor.taken.filter((each) => each !== at)
    for (const each of [signal, survivor]) each.history.push(`${each.status} ${each.status}`)
    for (const to of signal.links) {
      const insight = this.insight(to)
      if (insight.state === 'closed' || insight.merged.get(at) !== into) continue
      insight.merged.delete(at)
      insight.ledger.push(`signal_unmerged ${at} ${into}`)
      const via = insight.via.get(into)?.filter((each) => each !== at)
      if (via) insight.via.set(into, via)
      if (via?.length !== 0) continue
      insight.via.delete(into)
      insight.links = insight.links.filter((each) => each !== into)
      survivor.links = survivor.links.filter((each) => each !== to)
      survivor.history.push(`${survivor.status} ${survivor.status}`)
    }
    return undefined
  }

  move(at: number, to: ModelSignalStatus): string | undefined {
    const signal = this.signal(at)
    if (signal.merged !== undefined || !isStep(signal.status, to)) return 'wrong_state'
    this.#enter(at, to)
    return undefined
  }

  archive(at: number): string | undefined {
    const refused = this.move(at, 'dismissed')
    if (!refused) this.signal(at).archived = true
    return refused
  }

  open(at: number): string | undefined {
    if (this.signal(at).merged !== undefined) return 'wrong_state'
    const none = { merged: new Map(), via: new Map(), editions: [] }
    this.insights.push({ state: 'open', links: [], ...none, ledger: [`insight_opened ${at}`] })
    this.#link(at, this.insights.length - 1)
    return undefined
  }

  link(at: number, to: number): string | undefined {
    const insight = this.insight(to)
    const { merged, history, status } = this.signal(at)
    if (merged !== undefined) return 'wrong_state'
    if (insight.links.includes(at)) {
      if (insight.state !== 'closed' && insight.via.delete(at)) history.push(`${status} ${status}`)
      return undefined
    }
    if (insight.state === 'closed') return 'wrong_state'
    this.#link(at, to)
    return undefined
  }

  start(to: number): string | undefined {
    const insight = this.insight(to)
    if (insight.state !== 'open') return 'wrong_state'
    insight.state = 'investigating'
    insight.ledger.push('investigation_started')
    for (const at of listUnmergedLinks(insight))
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
    const waiting = listUnmergedLinks(insight).filter((at) => ['new', 'acknowledged'].includes(this.signal(at).status))
    if (edition.closes && (insight.state !== 'investigating' || waiting.length > 0)) return 'wrong_state'
    edition.attested = true
    insight.ledger.push(`edition_attested ${number}`)
    if (!edition.closes) return undefined
    for (const at of listUnmergedLinks(insight)) {
      if (this.signal(at).status !== 'investigating') continue
      this.#enter(at, 'resolved')
      this.signal(at).resolved_by = { insight: to, edition: number }
    }
    this.#close(insight)
    return undefined
  }

  close(to: number): string | undefined {
    const insight = this.insight(to)
    const isOver = (at: number) => isFinal(this.signal(at).status)
    if (insight.state === 'closed' || !listUnmergedLinks(insight).every(isOver)) return 'wrong_state'
    this.#close(insight)
    return undefined
  }

  /** Every signal's time is over. */
  expire(): void {
    for (const signal of this.signals) if (!isFinal(signal.status)) signal.expired = true
  }

  signal(at: number): SignalModel {
    return this.signals[at] ?? throwMissing(at)
  }

  insight(at: number): InsightModel {
    return this.insights[at] ?? throwMissing(at)
  }

  #enter(at: number, to: ModelSignalStatus): void {
    const signal = this.signal(at)
    const step = `${signal.status} ${to}`
    signal.history.push(step)
    signal.status = to
    const open = signal.links.map((each) => this.insight(each)).filter(({ state }) => state !== 'closed')
    for (const each of open) each.ledger.push(`signal_disposition_set ${at} ${step}`)
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

/** Linked signals that nobody stands for. */
function listUnmergedLinks({ links, merged }: InsightModel): number[] {
  return links.filter((at) => !merged.has(at))
}

function throwMissing(at: number): never {
  throw new Error(`there is no number ${at}`)
}
