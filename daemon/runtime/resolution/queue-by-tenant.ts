// Work of a tenant one after the other, beside that of other tenants.
import type { RunWork } from '../../roles/resolution/parts.ts'

/** The last work of each tenant; the next waits for it. */
export function queueByTenant(): RunWork['runInTurn'] {
  const lastByTenant = new Map<string, Promise<unknown>>()
  return (tenant_id, work) => {
    const current = (lastByTenant.get(tenant_id) ?? Promise.resolve()).then(work)
    const cleared = current
      .catch(() => undefined)
      .then(() => {
        if (lastByTenant.get(tenant_id) === cleared) lastByTenant.delete(tenant_id)
      })
    lastByTenant.set(tenant_id, cleared)
    return current
  }
}
