// The MachineDissent record: the reasons of a conflict at the time that the session entered it.
import * as z from 'zod'
import { label } from '../../../../kernel/label/label.ts'
import { collection } from '../../../../kernel/store/store.ts'
import { dissentBody } from '../../combine/dissent.ts'

const dissentStatus = z.enum(['open', 'resolved'])

/**
 * What ended the dissent: contributions or a person decided, the session was withdrawn, or a newer record replaced
 * it.
 */
export const dissentResolution = z.enum(['ratified', 'attested', 'withdrawn', 'superseded'])
export type DissentResolution = z.infer<typeof dissentResolution>

export const dissentRecord = z.strictObject({
  tenant_id: z.string(),
  label,
  session_id: z.string(),
  lens_id: z.string(),
  created_at: z.iso.datetime(),
  status: dissentStatus,
  resolved_at: z.iso.datetime().optional(),
  resolution: dissentResolution.optional(),
  body: dissentBody,
})
export type DissentRecord = z.infer<typeof dissentRecord>

/** The record as a change of the session queues it: the delivery adds the analysis, which costs too much for a change. */
export const describedDissent = dissentRecord.extend({
  body: dissentBody.partial({ influence: true, smallest_set: true }),
})
export type DescribedDissent = z.infer<typeof describedDissent>

export const dissents = collection({
  name: 'dissent',
  schema: dissentRecord,
  indexes: ['session_id', 'lens_id', 'status', 'created_at'],
})

export const machineDissent = z
  .strictObject({
    id: z.string(),
    session_id: z.string(),
    tenant_id: z.string(),
    lens_id: z.string(),
    classification: label,
    status: dissentStatus,
    resolution: dissentResolution.optional(),
    resolved_at: z.iso.datetime().optional(),
    created_at: z.iso.datetime(),
    ...dissentBody.shape,
  })
  .meta({ id: 'MachineDissent' })
