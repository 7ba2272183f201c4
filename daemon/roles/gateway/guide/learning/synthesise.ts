// One synthesis by rules: guidance is mined from the newest traces of a tenant and a label, and what agrees with the graphs is
// promoted; what drifts is held for an administrator, with a record of why.
import { isRefusal } from '../../../../kernel/error/errors.ts'
import type { Call } from '../../../../kernel/operation/call.ts'
import { runInSlices } from '../../../../kernel/role/run-in-slices.ts'
import { labelKeyOf } from '../../../../kernel/store/store.ts'
import { promoteArtifact } from '../artifact/change-artifacts.ts'
import { proposeArtifact } from '../artifact/propose-artifact.ts'
import type { ChangeGround } from '../audit/entry.ts'
import { checkMined, type DriftFinding, findDivergence } from '../drift/check-mined.ts'
import type { GraphView } from '../drift/graph-view.ts'
import { viewGraph } from '../drift/view-graph.ts'
import type { GraphScope } from '../graph/rules.ts'
import { observerPart } from '../observation/parts.ts'
import { mineWorkflows } from '../workflow/mine-workflows.ts'
import { quoteText } from './hint-text.ts'
import { mineTraces } from './mine-traces.ts'
import type { MinedArtifact } from './mined-artifact.ts'
import type { ToolChange, TraceWindow } from './trace-window.ts'

const curator: Pick<ChangeGround, 'actor'> = { actor: 'curator_auto' }
/** Of one synthesis: more would be a graph that was replaced, and not an edge that drifts. */
const max_divergences = 10
const day_ms = 86_400_000

export async function synthesise(call: Call, window: TraceWindow): Promise<void> {
  window.hasNews = false
  window.mined_ms = call.now()
  const { scope } = window
  const { book } = call.part(observerPart)
  const ofTraces = await runInSlices(call, mineTraces(window.traces))
  const ofWorkflows = await runInSlices(call, mineWorkflows(book.memory.workflows.list(scope)))
  const mined = [...ofTraces, ...ofWorkflows]
  const graph = await runInSlices(call, viewGraph(book, scope))
  for (const each of mined) await commit(call, scope, each, checkMined(each, graph))
  await reportDivergences(call, scope, graph)
}

/** The same finding is the same artifact: once it was proposed, it is as the curator and administrators have left it since. */
async function commit(
  call: Call,
  scope: GraphScope,
  { key, ...mined }: MinedArtifact,
  findings: readonly DriftFinding[],
): Promise<void> {
  const isHeld = findings.length > 0
  const draft = { ...scope, ...mined, key: keyOf(scope, mined.type, key), isHeld, trace_ids: [...mined.trace_ids] }
  const evidence_ref = { observations: [], related_audit_ids: [] }
  const proposed = await proposeArtifact(call, draft, { ...curator, trigger: 'synthesis_proposal', evidence_ref })
  if (isRefusal(proposed)) return
  const { doc, isNew } = proposed
  const [finding] = findings
  if (finding && isNew) await recordDrift(call, scope, { ...finding, held_proposal_id: doc.id }, `${mined.type} ${key}`)
  if (isHeld || doc.value.status !== 'proposed') return
  const promoted = await promoteArtifact(call, doc.id, { ...curator, trigger: 'synthesis_proposal' })
  if (isRefusal(promoted))
    call.log.info('gateway.guide.promotion_refused', { artifact_id: doc.id, code: promoted.code })
}

async function reportDivergences(call: Call, scope: GraphScope, graph: GraphView): Promise<void> {
  const day = Math.floor(call.now() / day_ms)
  const found = [...graph.everyEdge()].flatMap((edge) => findDivergence(edge) ?? [])
  for (const finding of found.slice(0, max_divergences)) await recordDrift(call, scope, finding, `windows ${day}`)
}

/** The outcomes of a tool have changed, by the detector that is fed with each of them. */
export async function reportChange(call: Call, scope: GraphScope, change: ToolChange): Promise<void> {
  const { tool: source, before, after } = change
  const ends = { graph_id: 'outcome_graph', source, target: 'success' } as const
  const finding = { rule: 'window_divergence', ...ends, recent: after, long: before } as const
  await recordDrift(call, scope, finding, `change ${call.now()}`)
}

export type RecordedDrift = DriftFinding & { readonly held_proposal_id?: string; readonly of_artifact_id?: string }

/** A DriftEvent for review; the same one is recorded once. */
export async function recordDrift(
  call: Call,
  scope: GraphScope,
  finding: RecordedDrift,
  occasion: string,
  why = rationales[finding.rule],
): Promise<void> {
  const { rule, graph_id = '', source = '', target = '' } = finding
  const ends = source === '' ? '' : ` at ${quoteText(source)}${target === '' ? '' : ` to ${quoteText(target)}`}`
  const draft = {
    ...scope,
    type: 'DriftEvent' as const,
    content: { ...finding, review: 'held' },
    rationale: `${why}${ends}.`,
    key: keyOf(scope, 'DriftEvent', JSON.stringify([rule, graph_id, source, target, occasion])),
    isHeld: true,
  }
  await proposeArtifact(call, draft, { ...curator, trigger: 'drift_event' })
}

const rationales: Readonly<Record<DriftFinding['rule'], string>> = {
  contradicted_edge: 'What was learnt contradicts the graph, where the edge is absent or weak,',
  unknown_intent: 'What was learnt is for a class of intents that no node of the graph has,',
  inverted_edge: 'What was learnt would invert a strong edge of the graph',
  diverging_trajectory: 'What was learnt diverges from where the graph is going',
  window_divergence: 'Outcomes have changed: the means of a short and a long horizon differ',
  repeated_failures: 'Traces with the artifact have failed several times within a short time,',
}

export function keyOf(scope: GraphScope, type: string, key: string): string {
  return JSON.stringify([labelKeyOf(scope), type, key])
}
