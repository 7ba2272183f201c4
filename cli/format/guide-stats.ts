// Formats the statistics of the guidance layer: a summary, then the health of each scope and the lowest scores as tables.
import type { ApiObject } from '../client/client.ts'
import { formatFields, formatTable, line_break, type OutputRow } from '../terminal/output.ts'
import type { Terminal } from '../terminal/terminal.ts'

export function formatGuideStats(terminal: Terminal, stats: ApiObject): string {
  const { artifacts, proposals, memories, scores, ingest, evaluator, degraded_emitters } = stats as {
    readonly [name: string]: OutputRow | undefined
    readonly degraded_emitters: readonly OutputRow[] & OutputRow
  }
  const summary = formatFields(terminal, {
    enabled: stats.enabled,
    curator: stats.curator_paused ? 'paused' : 'running',
    artifacts: joinCounts(artifacts),
    proposals: joinCounts(proposals),
    scores:
      scores && `${scores.evaluated} of ${scores.active} evaluated, ${scores.low} low${describeMean(scores.mean)}`,
    scores_written: evaluator && `${evaluator.scores_persisted}, ${evaluator.scores_failed} failed`,
    memories: joinCounts(memories?.by_event_type as OutputRow | undefined),
    for_review: memories?.needs_review,
    queue: ingest && `${ingest.queue_depth} of ${ingest.queue_maxsize}, last batch ${ingest.last_batch_ms} ms`,
    stored: ingest && `${ingest.stored}, ${ingest.repeats} repeats, ${ingest.invalid} invalid, ${ingest.failed} failed`,
    degraded: degraded_emitters.map(({ service, reason }) => `${service} (${reason})`).join(', ') || 'none',
  })
  const health = Object.entries(stats.guidance_health as Readonly<Record<string, OutputRow>>).map(
    ([scope, counts]) => ({
      ...{ scope, attached: counts.success, slowest_ms: counts.slowest_ms },
      without: joinCounts(counts.null as OutputRow) ?? '0',
    }),
  )
  const lowest = (scores?.lowest ?? []) as readonly OutputRow[]
  return [
    summary,
    ...(health.length === 0
      ? []
      : ['', formatTable(terminal, health, ['scope', 'attached', 'without', 'slowest_ms'], '')]),
    ...(lowest.length === 0
      ? []
      : ['', formatTable(terminal, lowest, ['artifact_id', 'type', 'evaluator_score', 'confidence'], '')]),
  ].join(line_break)
}

/** `active 12, demoted 1`; zero counts are left out. */
function joinCounts(counts: OutputRow | undefined): string | undefined {
  const present = Object.entries(counts ?? {}).filter(([, count]) => count !== 0)
  return present.map(([name, count]) => `${name.replaceAll('_', ' ')} ${count}`).join(', ') || undefined
}

function describeMean(mean: unknown): string {
  return typeof mean === 'number' ? `, mean ${mean.toFixed(2)}` : ''
}
