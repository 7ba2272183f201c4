// Lists the ingresses that the gateway keeps in a cluster for registered services, and why some are not there.
import * as z from 'zod'
import { operation } from '../../../kernel/operation/operation.ts'
import { buildListQuery, exactTotal, listFields, pageSchema } from '../../../kernel/operation/paging.ts'
import { ingressSettings } from '../../../shared/routing/ingress-settings.ts'
import { managedIngress, managedIngresses, managedIngressStates, type StoredManagedIngress } from './model.ts'

export const list = operation({
  summary: 'List the ingresses that the gateway keeps in a cluster for registered services',
  method: 'GET',
  path: '/api/v2/gateway/ingress',
  input: z.strictObject({
    ...listFields,
    state: z.enum(managedIngressStates).optional(),
  }),
  output: pageSchema(managedIngress).meta({ id: 'ManagedIngressPage' }),
  errors: [],
  allow: 'gateway:read',

  async run(call, { limit, cursor, ...filters }) {
    const { docs, ...counted } = await call.store(managedIngresses).page(buildListQuery(filters, limit, cursor))
    // Ingresses that were written before the setting was turned off are not followed any more.
    if (!call.settings(ingressSettings).managed_enabled) return { items: [], ...exactTotal(0) }
    return { items: docs.map(({ value }) => showIngress(value)), ...counted }
  },
})

function showIngress({ tenant_id: _site, sha256: _written, changed_ts, ...shown }: StoredManagedIngress) {
  return { ...shown, changed_at: new Date(changed_ts).toISOString() }
}
