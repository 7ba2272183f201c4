// A proposal as administrators see it; its content is that of its artifact.
import * as z from 'zod'
import { label } from '../../../../kernel/label/label.ts'
import type { Doc } from '../../../../kernel/store/store.ts'
import { artifactType } from '../artifact/view.ts'
import { auditTriggers, evidence } from '../audit/entry.ts'
import { proposalStatuses, type StoredProposal } from './model.ts'

export const proposalView = z
  .strictObject({
    proposal_id: z.string(),
    status: z.enum(proposalStatuses),
    artifact_id: z.string(),
    artifact_type: artifactType,
    confidence: z.number(),
    evaluator_score: z.number().optional(),
    weight: z.number().optional(),
    supersedes: z.array(z.string()),
    rationale: z.string(),
    proposed_by: z.string(),
    trigger: z.enum(auditTriggers),
    related_drift_event_id: z.string().optional(),
    evidence_ref: evidence.optional(),
    created_at: z.iso.datetime(),
    settled_by: z.string().optional(),
    settled_at: z.iso.datetime().optional(),
    label: label.optional(),
  })
  .meta({ id: 'GuideProposal' })

export function showProposal({ id, value }: Doc<StoredProposal>): z.output<typeof proposalView> {
  const { tenant_id: _, uds: __, create_ts, update_ts: ___, schema_version: ____, settled_ts, ...shown } = value
  return {
    ...{ proposal_id: id, ...shown, created_at: new Date(create_ts).toISOString() },
    ...(settled_ts === undefined ? {} : { settled_at: new Date(settled_ts).toISOString() }),
  }
}
