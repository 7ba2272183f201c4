// Lineage events of an attachment.
import type * as z from 'zod'
import { sha256 } from '../../../../kernel/encoding/canonical-json.ts'
import type { IndexedArtifact, Selection } from '../guidance/rules.ts'
import type { lineageEvent, lineageKinds, StoredLineageEvent } from './model.ts'

/** One set of guidance that went out. */
export type Attachment = {
  readonly selection: Pick<Selection, 'attached' | 'capped' | 'held_out' | 'heldByBudget'>
  readonly scope: string
  readonly trace_id: string
  /** Of the caller. */
  readonly subject: string
  readonly at: number
}

export type LineageDocument = { readonly id: string; readonly value: StoredLineageEvent }

export function countEvents({ selection: { attached, capped, held_out = [] } }: Attachment): number {
  return attached.length + capped.length + held_out.length
}

export function buildLineage(attachment: Attachment, retention_ms: number): readonly LineageDocument[] {
  const { attached, capped, held_out = [] } = attachment.selection
  return [
    ...attached.map((artifact) => buildEvent(attachment, artifact, 'attached', retention_ms)),
    ...capped.map((artifact) => buildEvent(attachment, artifact, 'capped', retention_ms)),
    ...held_out.map((artifact) => buildEvent(attachment, artifact, 'held_out', retention_ms)),
  ]
}

/** The id makes a repeat in the same trace the same event. */
function buildEvent(
  { selection, scope, trace_id, subject, at }: Attachment,
  artifact: IndexedArtifact,
  kind: (typeof lineageKinds)[number],
  retention_ms: number,
): LineageDocument {
  const { id: artifact_id, type, tenant_id, label } = artifact
  const { version } = artifact.attached
  return {
    id: sha256(JSON.stringify([tenant_id, trace_id, artifact_id, scope, kind])),
    value: {
      ...{ tenant_id, ...(label ? { label } : {}) },
      uds: { timestamp: at, username: subject, visibility: label ? 'label' : 'tenant' },
      ...{ create_ts: at, update_ts: at, schema_version: 1 },
      ...{ kind, trace_id, artifact_id, artifact_type: type, artifact_version: version, scope },
      ...(kind === 'capped' ? { reason: selection.heldByBudget.get(artifact) ?? 'type_cap' } : {}),
      expires_ts: at + retention_ms,
    },
  }
}

export const newestFirst = { field: 'create_ts', direction: 'desc' } as const
export const oldestFirst = { field: 'create_ts', direction: 'asc' } as const

export function showLineage({
  kind,
  trace_id,
  artifact_id,
  artifact_type,
  artifact_version,
  scope,
  reason,
  create_ts,
}: StoredLineageEvent): z.infer<typeof lineageEvent> {
  const at = new Date(create_ts).toISOString()
  const why = reason === undefined ? {} : { reason }
  return { kind, trace_id, artifact_id, artifact_type, artifact_version, scope, ...why, at }
}
