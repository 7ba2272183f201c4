// An artifact as administrators see it: without its vector, and with times in ISO 8601.
import * as z from 'zod'
import { label } from '../../../../kernel/label/label.ts'
import type { Doc } from '../../../../kernel/store/store.ts'
import { type ArtifactType, artifactTypes } from './content.ts'
import {
  type Artifact,
  type ArtifactVersion,
  applicability,
  artifactOrigin,
  artifactStatuses,
  versionId,
} from './model.ts'

export const artifactId = z.string().min(1).max(128)
export const artifactType = z.enum(artifactTypes as [ArtifactType, ...ArtifactType[]])

export const artifactFields = {
  id: z.string(),
  type: artifactType,
  status: z.enum(artifactStatuses),
  version: z.int(),
  version_id: z.string(),
  prev_version_id: z.string().nullable(),
  change_reason: z.string(),
  actor: z.string(),
  service_name: z.string().optional(),
  tool_name: z.string().optional(),
  applicability,
  content: z.record(z.string(), z.unknown()).meta({ description: 'By the type; without the embedding vector' }),
  rationale: z.string(),
  notes: z.string(),
  supersedes: z.array(z.string()),
  superseded_by: z.string().optional(),
  trace_ids: z.array(z.string()),
  origin: artifactOrigin.optional(),
  is_flagged: z.boolean(),
  low_scores: z.int(),
  demoted_cycles: z.int(),
  as_of: z.iso.datetime(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
  label: label.optional(),
}

export const artifactView = z.strictObject(artifactFields).meta({ id: 'GuideArtifact' })
export type ArtifactView = z.output<typeof artifactView>

const toIso = (ms: number) => new Date(ms).toISOString()

export function showArtifact({ id, value }: Doc<Artifact>): ArtifactView {
  const { embedding_vector: _, ...content } = value.content
  const { type, status, version, prev_version_id, change_reason, actor, applicability: applies } = value
  return {
    ...{ id, type, status, version, version_id: versionId(id, version), prev_version_id, change_reason, actor },
    ...(value.service_name === undefined ? {} : { service_name: value.service_name }),
    ...(value.tool_name === undefined ? {} : { tool_name: value.tool_name }),
    ...{ applicability: applies, content, rationale: value.rationale, notes: value.notes },
    supersedes: value.supersedes,
    ...(value.origin === undefined ? {} : { origin: value.origin }),
    ...(value.superseded_by === undefined ? {} : { superseded_by: value.superseded_by }),
    ...{ trace_ids: value.trace_ids, is_flagged: value.is_flagged, low_scores: value.low_scores },
    ...{ demoted_cycles: value.demoted_cycles, as_of: toIso(value.as_of) },
    ...{ created_at: toIso(value.create_ts), updated_at: toIso(value.update_ts) },
    ...(value.label ? { label: value.label } : {}),
  }
}

export const versionSummary = z
  .strictObject({
    version_id: z.string(),
    version: z.int(),
    status: z.enum(artifactStatuses),
    change_reason: z.string(),
    actor: z.string(),
    updated_at: z.iso.datetime(),
  })
  .meta({ id: 'GuideArtifactVersion' })

export function summariseVersion({ value }: Doc<ArtifactVersion>): z.output<typeof versionSummary> {
  const { artifact_id, version, status, change_reason, actor, update_ts } = value
  return {
    ...{ version_id: versionId(artifact_id, version), version, status, change_reason, actor },
    updated_at: toIso(update_ts),
  }
}

/** Fields of each change by an administrator. */
export const changeFields = {
  rationale: z.string().min(1).max(8_192).optional().meta({ description: 'Why; default: derived from the action' }),
  admin_note: z.string().min(1).max(8_192).optional().meta({ description: 'A note of the administrator, kept apart' }),
}
