// A contributor: the keys that sign for it, and the subjects that may submit for it. The profile is the seed.
import * as z from 'zod'
import { collection } from '../../../kernel/store/store.ts'
import { shortText } from '../fields.ts'

export const enrolmentFields = {
  signer_keys: z.array(shortText).min(1).max(64).meta({ description: 'Key ids that may sign for the contributor' }),
  spoken_for_by: z
    .array(shortText)
    .max(64)
    .default([])
    .meta({ description: 'Subjects that may submit for the contributor, besides itself' }),
}

/** Of one contributor of a tenant; it takes the place of the profile's. `removed`: the contributor is enrolled no more. */
const storedContributor = z.strictObject({
  tenant_id: z.string(),
  name: shortText,
  ...enrolmentFields,
  signer_keys: z.array(shortText).max(64),
  removed: z.boolean(),
  changed_by: shortText,
  changed_at: z.iso.datetime(),
})
export type StoredContributor = z.infer<typeof storedContributor>

export const contributors = collection({ name: 'contributor', schema: storedContributor, indexes: ['name'] })

export const contributor = z
  .strictObject({
    name: shortText,
    ...enrolmentFields,
    spoken_for_by: z.array(shortText),
    origin: z.enum(['profile', 'operation']).meta({ description: 'profile: as consensus.contributors has it' }),
    changed_by: shortText.optional(),
    changed_at: z.iso.datetime().optional(),
  })
  .meta({ id: 'Contributor' })
export type Contributor = z.infer<typeof contributor>

export const nameInput = z.strictObject({ name: shortText })
