// Proposals: artifacts that a synthesis or the coalescer suggests, until they are accepted, dismissed or superseded.
import * as z from 'zod'
import { collection } from '../../../../kernel/store/store.ts'
import { type ArtifactType, artifactTypes } from '../artifact/content.ts'
import { auditEntry, evidence } from '../audit/entry.ts'
import { documentFields } from '../document-fields.ts'

/** `held`: it drifts, and only an administrator may accept it. */
export const proposalStatuses = ['open', 'held', 'accepted', 'dismissed'] as const

const storedProposal = z.strictObject({
  ...documentFields,
  status: z.enum(proposalStatuses),
  artifact_id: z.string(),
  artifact_type: z.enum(artifactTypes as [ArtifactType, ...ArtifactType[]]),
  confidence: z.number().min(0).max(1),
  evaluator_score: z.number().min(0).max(1).optional(),
  weight: z.number().min(0).optional(),
  /** Ids of artifacts that it replaces once it is accepted. */
  supersedes: z.array(z.string()),
  rationale: z.string(),
  proposed_by: z.string(),
  trigger: auditEntry.shape.trigger,
  related_drift_event_id: z.string().optional(),
  evidence_ref: evidence.optional(),
  settled_by: z.string().optional(),
  settled_ts: z.number().optional(),
})
export type StoredProposal = z.infer<typeof storedProposal>

export const proposals = collection({
  name: 'guide_proposal',
  schema: storedProposal,
  indexes: ['status', 'artifact_id', 'artifact_type', 'create_ts', 'confidence'],
  orders: [['status', 'create_ts']],
  documented: {
    alias: 'guide_proposals',
    fields: { status: 'status', artifact_id: 'artifact_id', artifact_type: 'artifact_type' },
  },
  // It is part of the artifact, which If-Match is about.
  revision: () => undefined,
})

/** Of the proposal of an artifact. */
export const proposalId = (artifact_id: string): string => artifact_id.replace(/^artifact_/, 'proposal_')
export const artifactIdOf = (proposal_id: string): string => proposal_id.replace(/^proposal_/, 'artifact_')
