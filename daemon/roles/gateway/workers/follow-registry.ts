// Keeps the routes to the owners of objects in step with the registry.
import type { Call } from '../../../kernel/operation/call.ts'
import type { Worker } from '../../../kernel/role/role.ts'
import { listRegisteredOwners } from '../../../shared/service-registry/registered-service.ts'
import { loadServices } from '../registered-service/load-services.ts'
import { ownerRoutesPart } from '../rest/parts.ts'

/** Another process of the gateway may have changed the registry. */
export const followRegistry: Worker = { name: 'follow-registry', when: { every_ms: 1_000 }, run }

async function run(call: Call): Promise<void> {
  const routes = call.part(ownerRoutesPart)
  if (!routes.isForwarding) return
  routes.replaceRegistered(listRegisteredOwners(await loadServices(call), call.now()))
}
