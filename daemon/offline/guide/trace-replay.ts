// Follows recorded events through the replayed layer: traces are measured by the artifacts that were active when they began.
import { sha256 } from '../../kernel/encoding/canonical-json.ts'
import { iterateDocuments } from '../../kernel/store/iterate-documents.ts'
import { labelOfCaller } from '../../roles/gateway/chat/rules.ts'
import { type Artifact, artifacts } from '../../roles/gateway/guide/artifact/model.ts'
import { readerOf } from '../../roles/gateway/guide/guidance/attach.ts'
import { guidancePart } from '../../roles/gateway/guide/guidance/parts.ts'
import type { IndexedArtifact } from '../../roles/gateway/guide/guidance/rules.ts'
import { loadTraceLineage } from '../../roles/gateway/guide/holdout/trace-lineage.ts'
import { loadTrace } from '../../roles/gateway/guide/learning/read-traces.ts'
import { lineageEvents } from '../../roles/gateway/guide/lineage/model.ts'
import { boundPayload } from '../../roles/gateway/guide/observation/bound-payload.ts'
import { stampObservation } from '../../roles/gateway/guide/observation/rules.ts'
import { measureDelays } from '../../roles/gateway/guide/replay/drift-delays.ts'
import { EffectStrata } from '../../roles/gateway/guide/replay/effect-strata.ts'
import { findHits } from '../../roles/gateway/guide/replay/find-hits.ts'
import { LearningCurve } from '../../roles/gateway/guide/replay/learning-curve.ts'
import { GuideReplay } from './replay-engine.ts'
import { buildReport, type ReplayReport, ReplayTally } from './replay-report.ts'
import type { RecordedEvent, TraceFaults } from './trace-lines.ts'

export type { ReplayReport } from './replay-report.ts'

const tenant_id = 'replay'
const policy = 'REPLAY'
/** Between two runs of the workers, as long as a gateway waits between two syntheses. */
const work_interval_ms = 10_000
/** After so long without an event, a call outside of a chat has ended. */
const settle_ms = 30_000
const expire_interval_ms = 86_400_000
const lineage_keep_ms = 90 * 86_400_000
const max_open_traces = 20_000
const max_drift_events = 10_000
/** Of a report. */
const max_listed = 5_000

type OpenTrace = {
  readonly level: string
  readonly guidance: readonly IndexedArtifact[]
  readonly isMeasured: boolean
  last_ms: number
}
type Observation = Extract<RecordedEvent, { readonly kind: 'observation' }>

export type ReplayPlan = { readonly levels: readonly string[]; readonly split_ms: number | undefined }

/** Recorded traces do not say which services are agents: outputs are not held to intent schemas. */
const no_agents: ReadonlySet<string> = new Set()

export class TraceReplay {
  /** Whether the last event was preceded by a run of the workers. */
  hasWorked = false
  readonly #plan: ReplayPlan
  readonly #engine: GuideReplay
  readonly #tally = new ReplayTally()
  readonly #strata = new EffectStrata()
  readonly #curve = new LearningCurve()
  readonly #open = new Map<string, OpenTrace>()
  readonly #done = new Set<string>()
  #worked_ms = Number.NEGATIVE_INFINITY
  #expired_ms = Number.NEGATIVE_INFINITY
  /** Artifacts that were active at the split; undefined before it. */
  #known: ReadonlySet<string> | undefined
  #drift_ts = 0
  readonly #drifts = new Set<string>()

  constructor(plan: ReplayPlan) {
    this.#plan = plan
    this.#engine = new GuideReplay({ tenant_id, labels: { policy, levels: [...plan.levels] } })
  }

  get progress() {
    const { index } = this.#engine.worker().part(guidancePart)
    return { observations: this.#tally.observations, traces: this.#tally.traces, artifacts: index.size }
  }

  async follow(event: RecordedEvent): Promise<void> {
    const { split_ms = Number.POSITIVE_INFINITY } = this.#plan
    if (!this.#known && event.at_ms >= split_ms) await this.#split(split_ms)
    this.hasWorked = event.at_ms - this.#worked_ms >= work_interval_ms
    if (this.hasWorked) await this.#work(event.at_ms)
    this.#engine.now_ms = Math.max(this.#engine.now_ms, event.at_ms)
    if (event.kind === 'observation') await this.#observe(event)
    else if (event.kind === 'lineage') await this.#storeLineage(event)
    else this.#tally.addChange({ at_ms: event.at_ms, tool: event.value.tool })
  }

  async #split(at_ms: number): Promise<void> {
    await this.#work(at_ms)
    const { index } = this.#engine.worker().part(guidancePart)
    this.#known = new Set(index.listIds())
  }

  /** What still waits is learnt and measured. */
  async finish(): Promise<void> {
    await this.#work(this.#engine.now_ms + settle_ms + 1)
  }

  async report(ended: ReplayReport['ended'], faults: TraceFaults): Promise<ReplayReport> {
    const learnt: { readonly id: string; readonly value: Artifact }[] = []
    for await (const { id, value } of iterateDocuments(this.#engine.worker().store(artifacts), {}))
      if (value.type !== 'DriftEvent' && learnt.length < max_listed) learnt.push({ id, value })
    return buildReport({
      ...{ ended, faults, learnt, tally: this.#tally, split_ms: this.#plan.split_ms },
      effects: this.#strata.listEffects(),
      uplift: this.#strata.measureUplift(),
      drift: measureDelays(this.#tally.changes, this.#tally.drifts),
      curve: this.#curve.list(),
      warnings: this.#engine.warnings,
    })
  }

  async close(): Promise<void> {
    await this.#engine.close()
  }

  async #work(at_ms: number): Promise<void> {
    this.#engine.now_ms = Math.max(this.#engine.now_ms, at_ms)
    this.#worked_ms = at_ms
    await this.#engine.work()
    for (const [trace_id, open] of this.#open)
      if (open.last_ms + settle_ms <= at_ms) await this.#measure(trace_id, open)
    await this.#findDrifts()
    if (at_ms - this.#expired_ms < expire_interval_ms) return
    this.#expired_ms = at_ms
    await this.#engine.expire()
  }

  async #observe({ at_ms, value }: Observation): Promise<void> {
    const { created_at: _, level = this.#plan.levels[0] ?? '', caller_identity, emitted_by: __, ...event } = value
    const { username, roles } = caller_identity ?? { username: 'unknown', roles: [] }
    this.#tally.addObservation(at_ms)
    if (!this.#done.has(event.trace_id)) await this.#openTrace(event.trace_id, level, at_ms)
    const tool = event.payload.tool
    if (typeof tool === 'string' && event.event_type.startsWith('tool_')) this.#engine.offer(`${event.service}/${tool}`)
    const stamped = stampObservation(
      {
        ...{ ...event, tenant_id, label: this.#labelOf(level), payload: boundPayload(event.payload) },
        caller_identity: { username, roles },
        emitted_by: { token_subject: username, token_roles: roles, context: 'http' },
      },
      this.#engine.now_ms,
      new Set(),
    )
    await this.#engine.observe(stamped)
  }

  async #openTrace(trace_id: string, level: string, at_ms: number): Promise<void> {
    const known = this.#open.get(trace_id)
    if (known) {
      known.last_ms = Math.max(known.last_ms, at_ms)
      return
    }
    const [oldest] = this.#open
    if (oldest && this.#open.size >= max_open_traces) {
      await this.#engine.store()
      await this.#measure(...oldest)
    }
    const { split_ms } = this.#plan
    const guidance = this.#select(trace_id, level)
    this.#open.set(trace_id, {
      ...{ level, last_ms: at_ms, isMeasured: split_ms === undefined || at_ms >= split_ms },
      guidance: guidance.filter(({ id }) => this.#known?.has(id) ?? split_ms === undefined),
    })
  }

  /** What a chat would get that is cleared for the trace, within the caps. */
  #select(trace_id: string, level: string): readonly IndexedArtifact[] {
    const call = this.#engine.request(trace_id, { subject: 'reader', clearance: { level, categories: [] } })
    const { index } = call.part(guidancePart)
    return index.find(readerOf(call, { scope: 'l2' }), () => false)?.attached ?? []
  }

  async #measure(trace_id: string, { level, guidance, isMeasured }: OpenTrace): Promise<void> {
    this.#open.delete(trace_id)
    this.#done.add(trace_id)
    const [oldest] = this.#done
    if (this.#done.size > max_open_traces && oldest !== undefined) this.#done.delete(oldest)
    if (!isMeasured) return
    const call = this.#engine.worker()
    const scope = { tenant_id, label: this.#labelOf(level) }
    const trace = await loadTrace(call, { scope, trace_id, settled_ms: 0 }, no_agents)
    const hits = findHits(
      trace,
      guidance.map(({ attached }) => attached),
    )
    const { index } = call.part(guidancePart)
    const point = {
      ...{ ...hits, until_ts: trace.ended_ts, successes: Number(trace.isSuccess), artifacts: index.size },
      all_calls: trace.calls.length,
    }
    this.#tally.addTrace(point)
    this.#curve.add(point)
    const lineage = await loadTraceLineage(call, scope, trace)
    const arms = [...lineage].map(([artifact_id, { isAttached }]) => ({ artifact_id, isAttached }))
    this.#strata.add(arms, trace.isSuccess)
  }

  async #storeLineage({ at_ms, value }: Extract<RecordedEvent, { readonly kind: 'lineage' }>): Promise<void> {
    const { at: _, ...event } = value
    this.#tally.lineage_events += 1
    const id = sha256(JSON.stringify([event.trace_id, event.artifact_id, event.scope, event.kind]))
    await this.#engine
      .worker()
      .store(lineageEvents)
      .create(id, {
        ...{ tenant_id, uds: { timestamp: at_ms, username: 'replay', visibility: 'tenant' } },
        ...{ create_ts: at_ms, update_ts: at_ms, schema_version: 1, ...event },
        expires_ts: at_ms + lineage_keep_ms,
      })
  }

  async #findDrifts(): Promise<void> {
    const order = { field: 'update_ts', direction: 'asc' } as const
    const filter = { type: 'DriftEvent', update_ts: { gte: this.#drift_ts } }
    const { docs } = await this.#engine.worker().store(artifacts).list({ filter, order, limit: 500 })
    for (const { id, value } of docs) {
      this.#drift_ts = Math.max(this.#drift_ts, value.update_ts)
      if (this.#drifts.has(id) || this.#drifts.size >= max_drift_events) continue
      this.#drifts.add(id)
      const { rule, source } = value.content as Readonly<Record<string, unknown>>
      this.#tally.addDrift({ rule: String(rule), source: String(source ?? ''), at_ms: this.#engine.now_ms })
    }
  }

  #labelOf(level: string) {
    const clearance = { level, categories: [] }
    return labelOfCaller({ tenant_id, clearance }, { policy, levels: [...this.#plan.levels] }, undefined)
  }
}
