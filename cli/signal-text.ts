// Signals and insights as people read them.
import type { Answered } from './client/client.ts'
import { fields, type Row, table } from './output.ts'
import type { Terminal } from './terminal.ts'

const subject = (row: Row) => {
  const { type, id, name } = row.subject as Row
  return `${name} (${type} ${id})`
}

export const signalColumns = [
  'uid',
  'status',
  'severity',
  'signal_type',
  { heading: 'subject', cell: subject },
  'title',
  'detected_at',
]

/** What it is, where it stands, and each step that brought it there. */
export function signalText(terminal: Terminal, signal: Answered): string {
  const { source, metadata, classification } = signal as { source: Row; metadata: Row; classification: Row }
  const said = fields(terminal, {
    signal: signal.uid,
    status: metadata.expired_at ? `${signal.status}, past its end since ${metadata.expired_at}` : signal.status,
    severity: signal.severity,
    type: signal.signal_type,
    subject: subject(signal),
    title: signal.title,
    description: signal.description,
    source: [source.type, source.name].filter(Boolean).join(' '),
    confidence: signal.confidence,
    detected: signal.detected_at,
    expires: signal.expires_at,
    insights: listOf(signal.linked_insight_ids),
    related: listOf(signal.related_signals),
    standing: signal.standing === 'listed' ? undefined : signal.standing,
    silence: signal.silence_id,
    merged_into: signal.merged_into,
    stands_for: (signal.merged_signals as readonly Row[] | undefined)?.map(({ signal_id }) => signal_id).join(', '),
    archived: metadata.archived_at,
    resolved_by: metadata.resolved_by_edition,
    classification: classification.level,
    version: signal.version,
  })
  const history = metadata.status_history as readonly Row[]
  if (history.length === 0) return said
  return [said, '', table(terminal, history, ['at', 'from', 'to', 'by', 'rationale'], '')].join('\n')
}

export const insightColumns = [
  'uid',
  'state',
  'title',
  { heading: 'trigger', cell: (row: Row) => (row.entry_context as Row).trigger },
  { heading: 'signals', cell: (row: Row) => (row.linked_signal_ids as readonly string[]).length },
  'created_at',
]

export function insightText(terminal: Terminal, insight: Answered): string {
  const { entry_context, classification } = insight as { entry_context: Row; classification: Row }
  const said = fields(terminal, {
    insight: insight.uid,
    state: insight.settled ? insight.state : `${insight.state}, until signals and ledger have followed`,
    title: insight.title,
    description: insight.description,
    trigger: entry_context.trigger,
    signals: listOf(insight.linked_signal_ids),
    started: insight.started_at,
    closed: insight.closed_at,
    classification: classification.level,
    version: insight.version,
  })
  const editions = insight.editions as readonly Row[]
  if (editions.length === 0) return said
  const attested = { heading: 'attested by', cell: (row: Row) => (row.attested as Row | undefined)?.by }
  return [said, '', table(terminal, editions, ['edition_id', 'title', 'closes', attested], '')].join('\n')
}

function listOf(ids: unknown): string | undefined {
  return (ids as readonly string[] | undefined)?.join(', ') || undefined
}
