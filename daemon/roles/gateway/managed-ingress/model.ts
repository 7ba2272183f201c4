// The ingress that the gateway keeps in a cluster for a registered service, as it is shown and stored.
import * as z from 'zod'
import { collection } from '../../../kernel/store/store.ts'
import { serviceName } from '../../../shared/routing/ingress-settings.ts'

/**
 * `pending`: not written yet. `unroutable`: its service is not a Service of the namespace. `conflict`: the name belongs to an
 * ingress of somebody else. `failed`: the cluster refused it.
 */
export const managedIngressStates = ['written', 'pending', 'unroutable', 'conflict', 'failed'] as const

export const managedIngress = z
  .strictObject({
    name: z.string(),
    service: serviceName.meta({ description: 'The registered service' }),
    state: z.enum(managedIngressStates),
    reason: z.string().optional().meta({ description: 'Why it is not as it should be' }),
    backend: z.string().optional().meta({ description: 'Service of the namespace, with its port' }),
    priority: z.int(),
    paths: z.int().meta({ description: 'Number of path prefixes' }),
    changed_at: z.iso.datetime().meta({ description: 'Of the last change of the ingress or its state by the gateway' }),
  })
  .meta({ id: 'ManagedIngress' })

const storedManagedIngress = z.strictObject({
  /** The site's own. */
  tenant_id: z.string(),
  name: z.string(),
  service: z.string(),
  state: z.enum(managedIngressStates),
  reason: z.string().optional(),
  backend: z.string().optional(),
  priority: z.int(),
  paths: z.int(),
  /** Of what was written last, so that a repair differs from a change. */
  sha256: z.string().optional(),
  changed_ts: z.number(),
})
export type StoredManagedIngress = z.infer<typeof storedManagedIngress>

/** By the name of the ingress. */
export const managedIngresses = collection({
  name: 'managed_ingress',
  schema: storedManagedIngress,
  indexes: ['state', 'service'],
  revision: () => undefined,
})
