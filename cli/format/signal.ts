// Formats signals and insights as text.
import type { ApiObject } from '../client/client.ts'
import { formatFields, formatTable, line_break, type OutputRow } from '../terminal/output.ts'
import type { Terminal } from '../terminal/terminal.ts'

const formatSignalSubject = (row: OutputRow) => {
  const { type, id, name } = row.subject as OutputRow
  return `${name} (${type} ${id})`
}

export const signalColumns = [
  'uid',
  'status',
  'severity',
  'signal_type',
  { heading: 'subject', cell: formatSignalSubject },
  'title',
  'detected_at',
]

/** The fields of a signal, then its status history as a table. */
export function formatSignal(terminal: Terminal, signal: ApiObject): string {
  const { source, metadata, classification } = signal as {
    source: OutputRow
    metadata: OutputRow
    classification: OutputRow
  }
  const text = formatFields(terminal, {
    signal: signal.uid,
    status: metadata.expired_at ? `${signal.status}, expired at ${metadata.expired_at}` : signal.status,
    severity: signal.severity,
    type: signal.signal_type,
    subject: formatSignalSubject(signal),
    title: signal.title,
    description: signal.description,
    source: [source.type, source.name].filter(Boolean).join(' '),
    confidence: signal.confidence,
    detected: signal.detected_at,
    expires: signal.expires_at,
    insights: joinIds(signal.linked_insight_ids),
    related: joinIds(signal.related_signals),
    visibility: signal.visibility === 'listed' ? undefined : signal.visibility,
    silence: signal.silence_id,
    merged_into: signal.merged_into,
    stands_for: (signal.merged_signals as readonly OutputRow[] | undefined)
      ?.map(({ signal_id }) => signal_id)
      .join(', '),
    archived: metadata.archived_at,
    resolved_by: metadata.resolved_by_edition,
    classification: classification.level,
    version: signal.version,
  })
  const history = metadata.status_history as readonly OutputRow[]
  if (history.length === 0) return text
  return [text, '', formatTable(terminal, history, ['at', 'from', 'to', 'by', 'rationale'], '')].join(line_break)
}

export const insightColumns = [
  'uid',
  'state',
  'title',
  { heading: 'trigger', cell: (row: OutputRow) => (row.entry_context as OutputRow).trigger },
  { heading: 'signals', cell: (row: OutputRow) => (row.linked_signal_ids as readonly string[]).length },
  'created_at',
]

export function formatInsight(terminal: Terminal, insight: ApiObject): string {
  const { entry_context, classification } = insight as { entry_context: OutputRow; classification: OutputRow }
  const text = formatFields(terminal, {
    insight: insight.uid,
    state: insight.settled ? insight.state : `${insight.state}; updates of signals and ledger are pending`,
    title: insight.title,
    description: insight.description,
    trigger: entry_context.trigger,
    signals: joinIds(insight.linked_signal_ids),
    started: insight.started_at,
    closed: insight.closed_at,
    classification: classification.level,
    version: insight.version,
  })
  const editions = insight.editions as readonly OutputRow[]
  if (editions.length === 0) return text
  const attested = { heading: 'attested by', cell: (row: OutputRow) => (row.attested as OutputRow | undefined)?.by }
  return [text, '', formatTable(terminal, editions, ['edition_id', 'title', 'closes', attested], '')].join(line_break)
}

function joinIds(ids: unknown): string | undefined {
  return (ids as readonly string[] | undefined)?.join(', ') || undefined
}
