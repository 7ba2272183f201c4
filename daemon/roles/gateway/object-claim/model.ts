// The claim of a service to an object: one document for each object, so that the store accepts one owner.
import * as z from 'zod'
import { collection } from '../../../kernel/store/store.ts'

/** Of all services together. */
export const max_registered_objects = 10_000

const objectClaim = z.strictObject({
  tenant_id: z.string(),
  object: z.string(),
  service: z.string(),
})

/** By object. A claim counts only while the service is registered and lists the object (`listsObject`). */
export const objectClaims = collection({
  name: 'object_claim',
  schema: objectClaim,
  indexes: ['service'],
  revision: () => undefined,
})
