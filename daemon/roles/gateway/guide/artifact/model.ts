// Artifacts: guidance that was learnt or written, in versions (document 002, "Artifact types").
import * as z from 'zod'
import { collection } from '../../../../kernel/store/store.ts'
import { auditEntry } from '../audit/entry.ts'
import { documentFields } from '../document-fields.ts'
import { artifactContents, artifactTypes } from './content.ts'

export const artifactStatuses = ['proposed', 'active', 'demoted', 'forgotten'] as const
export type ArtifactStatus = (typeof artifactStatuses)[number]

const narrowing = z.string().min(1).max(256)

export const applicability = z.strictObject({
  intent_class: narrowing.optional(),
  tags: z.array(z.string().min(1).max(64)).max(64).default([]),
})

/** Of an artifact from another site, which two administrators have accepted. */
export const artifactOrigin = z
  .strictObject({
    site: z.string(),
    tenant_id: z.string(),
    artifact_id: z.string(),
    version: z.int().min(1),
    set_id: z.string(),
    made_at: z.iso.datetime(),
    digest: z.string().meta({ description: 'SHA-256 of the artifact as it was carried' }),
    embedded_by: z.string().optional().meta({ description: 'Model of its vector there, which was not carried' }),
    accepted_by: z.array(z.string()).length(2),
    accepted_version: z.int().meta({ description: 'Version that the acceptance made; later ones were decided here' }),
  })
  .meta({ id: 'GuideArtifactOrigin' })
export type ArtifactOrigin = z.infer<typeof artifactOrigin>

const recordFields = {
  ...documentFields,
  status: z.enum(artifactStatuses),
  version: z.int().min(1),
  /** Of the version before, in the history; null for the first. */
  prev_version_id: z.string().nullable(),
  change_reason: z.string().max(2_048),
  /** `curator_auto`, `evaluator_auto` or `admin:<username>`. */
  actor: z.string().max(300),
  /** Where it belongs: the scope of similarity. Both absent: to the front end. */
  service_name: narrowing.optional(),
  tool_name: narrowing.optional(),
  applicability,
  rationale: z.string().min(1).max(8_192),
  notes: z.string().max(8_192),
  /** Ids that readers hide while this one is active. */
  supersedes: z.array(z.string()).max(256),
  /** Traces that it was learnt from. */
  trace_ids: z.array(z.string()).max(64),
  /** Absent: learnt or written here. */
  origin: artifactOrigin.optional(),
  /** When its content last changed. */
  as_of: z.number(),
  /** Of the evaluator: runs with a low score in a row. */
  low_scores: z.int().min(0),
  /** Of a demoted one: evaluations since then. */
  demoted_cycles: z.int().min(0),
  /** For review with the next synthesis, since what was learnt from it fails. */
  is_flagged: z.boolean(),
  /** The active one that lists it. */
  superseded_by: z.string().optional(),
  /** Of the last change, until it is in the audit records and all that follows from it is done. */
  pending_audit: auditEntry.optional(),
  /** Whether there is a pending one. */
  follow_up: z.boolean().optional(),
}

/** The type decides the schema of the content. */
export const artifact = z.discriminatedUnion(
  'type',
  artifactTypes.map((type) =>
    z.strictObject({ ...recordFields, type: z.literal(type), content: artifactContents[type] }),
  ) as never,
) as unknown as z.ZodType<Artifact>

/** Whether its effect is measured by a hold-out: what an administrator has decided on here is always attached. */
export function isMeasured({ actor, version, origin }: Pick<Artifact, 'actor' | 'version' | 'origin'>): boolean {
  return !actor.startsWith('admin:') || origin?.accepted_version === version
}

type RecordFields = z.infer<z.ZodObject<typeof recordFields>>
export type Artifact = {
  [T in keyof typeof artifactContents]: RecordFields & {
    readonly type: T
    readonly content: z.infer<(typeof artifactContents)[T]>
  }
}[keyof typeof artifactContents]

export const artifacts = collection<Artifact>({
  name: 'guide_artifact',
  schema: artifact,
  indexes: ['type', 'status', 'service_name', 'tool_name', 'actor', 'update_ts', 'follow_up'],
  orders: [['status', 'update_ts']],
  documented: { alias: 'guide_artifacts', fields: { type: 'type', status: 'status', update_ts: 'update_ts' } },
  revision: ({ version }) => version,
})

export type ArtifactVersion = Artifact & { readonly artifact_id: string }

/** A strict object allows no further field of an intersection. */
const artifactVersion = z.discriminatedUnion(
  'type',
  artifactTypes.map((type) =>
    z.strictObject({
      ...recordFields,
      artifact_id: z.string(),
      type: z.literal(type),
      content: artifactContents[type],
    }),
  ) as never,
) as unknown as z.ZodType<ArtifactVersion>

/** Every version before the current one, under `<artifact id>.<version>`. */
export const artifactHistory = collection<ArtifactVersion>({
  name: 'guide_artifact_history',
  schema: artifactVersion,
  indexes: ['artifact_id', 'version', 'type'],
  orders: [['artifact_id', 'version']],
  documented: { alias: 'guide_artifact_history', fields: { artifact_id: 'artifact_id' } },
})

export const versionId = (id: string, version: number): string => `${id}.${version}`
