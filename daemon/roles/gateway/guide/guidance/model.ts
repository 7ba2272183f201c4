// Guidance as it is attached, and the scopes that it is attached to.
import * as z from 'zod'
import { artifactTypes } from '../artifact/content.ts'
import { applicability } from '../artifact/model.ts'

const attachedArtifact = z
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

/** `l1`: the front end of the caller. `l2`: the gateway's own chat model. `l3:<service>`: an agent; `l3`: any of them. */
export const guidanceScope = z
  .string()
  .regex(/^(l1|l2|l3|l3:[a-z]([a-z0-9-]{0,46}[a-z0-9])?)$/, 'must be l1, l2, l3, or l3: and the name of a service')
  .meta({ description: 'l1 (front end), l2 (chat model of the gateway), l3:<service> (an agent) or l3 (any agent)' })
export type GuidanceScope = z.infer<typeof guidanceScope>

/** The intent that a preview is for; its best pattern is the one with the highest score. */
export const intentMatch = z.strictObject({ pattern_id: z.string(), score: z.number() }).nullable()

export const shownSchema = z
  .strictObject({ id: z.string(), intent_class: z.string(), schema: z.record(z.string(), z.unknown()) })
  .meta({ id: 'GuidanceSchema' })
export const shownTool = z
  .strictObject({
    name: z.string().meta({ description: '<service>/<tool>' }),
    description_override: z.string().nullable(),
    routing_hint: z.string().nullable(),
  })
  .meta({ id: 'GuidanceTool' })
export const shownSpec = z.strictObject({ id: z.string(), content: z.string() }).meta({ id: 'GuidanceSpec' })
export const shownConnection = z
  .strictObject({ from: z.string(), to: z.string(), confidence: z.number() })
  .meta({ id: 'GuidanceConnection' })
