// Chooses the artifacts that a synthesis shows to the model: those that are flagged for review, and those that concern the trace.
import type { Doc } from '../../../../kernel/store/store.ts'
import type { Artifact } from '../artifact/model.ts'
import type { TraceRecord } from '../learning/trace-record.ts'

const max_shown = 24

/** The most relevant first. Records of the layer itself, such as DriftEvent, are for administrators. */
export function chooseShown(candidates: readonly Doc<Artifact>[], trace: TraceRecord): Doc<Artifact>[] {
  return candidates
    .map((doc) => ({ doc, relevance: weighRelevance(doc.value, trace) }))
    .filter(({ relevance }) => relevance > 0)
    .toSorted((x, y) => y.relevance - x.relevance || (x.doc.id < y.doc.id ? -1 : 1))
    .slice(0, max_shown)
    .map(({ doc }) => doc)
}

function weighRelevance(
  { type, is_flagged, applicability, service_name, tool_name }: Artifact,
  trace: TraceRecord,
): number {
  if (type === 'DriftEvent' || type === 'SchemaDrift' || type === 'DecisionGraph') return 0
  if (is_flagged) return 8
  const { intent_class } = applicability
  if (intent_class !== undefined) return intent_class === trace.intent_class ? 4 : 0
  if (service_name === undefined) return 1
  const ofService = trace.calls.filter(({ service }) => service === service_name)
  if (ofService.length === 0) return 0
  return ofService.some(({ tool }) => tool === `${service_name}/${tool_name}`) ? 3 : 2
}
