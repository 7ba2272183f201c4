// Which artifacts were attached to a trace, and which were held back by a cap.
import * as z from 'zod'
import { collection } from '../../../../kernel/store/store.ts'
import { artifactTypes } from '../artifact/content.ts'
import { capReasons } from '../budget/rules.ts'
import { documentFields } from '../document-fields.ts'

export const lineageKinds = ['attached', 'capped', 'held_out'] as const

const storedLineageEvent = z.strictObject({
  ...documentFields,
  kind: z.enum(lineageKinds),
  trace_id: z.string(),
  artifact_id: z.string(),
  artifact_type: z.enum(artifactTypes),
  artifact_version: z.int(),
  scope: z.string(),
  /** Of a capped artifact: what held it back. */
  reason: z.enum(capReasons).optional(),
  /** As the trace was counted for the effect of the artifact: the form of `countedTrace`. */
  counted: z.string().max(64).optional(),
  expires_ts: z.number(),
})
export type StoredLineageEvent = z.infer<typeof storedLineageEvent>

/** One event for each artifact, kind, scope and trace, however often the trace passes. */
export const lineageEvents = collection({
  name: 'guide_lineage_event',
  schema: storedLineageEvent,
  indexes: ['trace_id', 'artifact_id', 'kind', 'scope', 'create_ts'],
  orders: [
    ['kind', 'create_ts'],
    ['kind', 'artifact_id', 'create_ts'],
    ['kind', 'trace_id', 'create_ts'],
  ],
  documented: {
    alias: 'guide_lineage_events',
    fields: { trace_id: 'trace_id', artifact_id: 'artifact_id', kind: 'kind', scope: 'scope', create_ts: 'create_ts' },
  },
})

/** As operations show it. */
export const lineageEvent = z
  .strictObject({
    ...storedLineageEvent.pick({
      kind: true,
      trace_id: true,
      artifact_id: true,
      artifact_type: true,
      artifact_version: true,
      scope: true,
      reason: true,
    }).shape,
    at: z.iso.datetime(),
  })
  .meta({ id: 'GuidanceLineageEvent' })
