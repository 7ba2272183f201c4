// Formats artifacts of guidance, observations and audit records as text.
import type { ApiObject } from '../client/client.ts'
import { formatFields, formatTable, line_break, type OutputColumn, type OutputRow } from '../terminal/output.ts'
import type { Terminal } from '../terminal/terminal.ts'

const contentOf = ({ content }: OutputRow) => (content ?? {}) as OutputRow

export const artifactColumns: readonly OutputColumn[] = [
  ...(['id', 'type', 'status', 'version'] as const),
  { heading: 'score', cell: (row) => contentOf(row).evaluator_score },
  { heading: 'confidence', cell: (row) => contentOf(row).confidence },
  { heading: 'service', cell: ({ service_name }) => service_name },
  ...(['actor', 'updated_at'] as const),
]

export const auditColumns: readonly OutputColumn[] = [
  ...(['at', 'action', 'actor', 'trigger', 'artifact_id', 'rationale'] as const),
]

/** The fields of an artifact, its content field by field, then its earlier versions where they are known. */
export function formatArtifact(terminal: Terminal, artifact: ApiObject): string {
  const { intent_class, tags } = artifact.applicability as OutputRow
  const text = formatFields(terminal, {
    ...{ artifact: artifact.id, type: artifact.type, status: artifact.status, version: artifact.version },
    ...{ changed: `${artifact.updated_at} by ${artifact.actor}`, reason: artifact.change_reason },
    ...{ service: artifact.service_name, tool: artifact.tool_name, intent: intent_class, tags: joinNames(tags) },
    ...Object.fromEntries(
      Object.entries(contentOf(artifact)).map(([name, value]) => [name === 'tool' ? 'of_tool' : name, value]),
    ),
    ...{ rationale: artifact.rationale, notes: artifact.notes || undefined },
    ...{ supersedes: joinNames(artifact.supersedes), superseded_by: artifact.superseded_by },
    ...{ review: artifact.is_flagged ? 'with the next synthesis' : undefined },
    attached: describeUsage(artifact.usage as OutputRow | undefined),
    ...{ label: (artifact.label as OutputRow | undefined)?.level, similar: joinSimilar(artifact.similar) },
  })
  const { history = [], history_total = 0 } = artifact as { history?: readonly OutputRow[]; history_total?: number }
  if (history.length === 0) return text
  const columns = ['version', 'status', 'updated_at', 'actor', 'change_reason']
  const rest = history.length < history_total ? [`the newest ${history.length} of ${history_total} versions`] : []
  return [text, '', formatTable(terminal, history, columns, ''), ...rest].join(line_break)
}

export function formatMemory(terminal: Terminal, memory: ApiObject): string {
  const { username } = memory.caller_identity as OutputRow
  const { token_subject, context } = memory.emitted_by as OutputRow
  return formatFields(terminal, {
    ...{ memory: memory.memory_id, event: memory.event_type, service: memory.service, time: memory.timestamp },
    ...{ trace: memory.trace_id, parent_trace: memory.parent_trace_id, conversation: memory.conversation_id },
    ...{ caller: username, emitted_by: `${token_subject} (${context})` },
    review: memory.needs_review ? 'the caller is not the subject of the token' : undefined,
    ...{ tags: joinNames(memory.tags), notes: memory.notes || undefined, level: memory.level },
    ...{ expires: memory.expires_at, payload: memory.payload },
  })
}

function joinNames(names: unknown): string | undefined {
  return (names as readonly string[] | undefined)?.join(', ') || undefined
}

function describeUsage(usage: OutputRow | undefined): string | undefined {
  if (!usage) return undefined
  const last = usage.last_attached_at === null ? '' : `, last at ${usage.last_attached_at}`
  return `${usage.attached_count}${last}, held back by a cap ${usage.capped_count}`
}

function joinSimilar(similar: unknown): string | undefined {
  const rows = (similar ?? []) as readonly OutputRow[]
  return joinNames(rows.map(({ id, similarity }) => `${id} (${Number(similarity).toFixed(2)})`))
}
