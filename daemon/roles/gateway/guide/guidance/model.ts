// Guidance as it is attached, and the scopes that it is attached to.
import * as z from 'zod'
import { artifactTypes } from '../artifact/content.ts'
import { applicability } from '../artifact/model.ts'

export const attachedArtifact = z
  .strictObject({
    id: z.string(),
    type: z.enum(artifactTypes),
    version: z.int(),
    content: z.record(z.string(), z.unknown()).meta({ description: 'Keys by type; without the embedding' }),
    applicability,
    rationale: z.string(),
  })
  .meta({ id: 'AttachedArtifact' })

export const guidanceBlock = z
  .strictObject({
    as_of: z.iso.datetime().meta({ description: 'When the set was built' }),
    artifacts: z.array(attachedArtifact),
    rationale_summary: z.string(),
  })
  .meta({ id: 'GuidanceBlock', description: 'The complete set of guidance for one scope' })
export type StoredGuidance = z.infer<typeof guidanceBlock>

/** `l1`: the front end of the caller. `l2`: the gateway's own chat model. `l3:<service>`: an agent. */
export const guidanceScope = z
  .string()
  .regex(/^(l1|l2|l3:[a-z0-9][a-z0-9-]{0,62})$/, 'must be l1, l2, or l3: and the name of a service')
  .meta({ description: 'l1 (front end), l2 (chat model of the gateway) or l3:<service> (an agent)' })
export type GuidanceScope = string
