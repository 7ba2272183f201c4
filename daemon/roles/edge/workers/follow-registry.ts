// Keeps the routes of the edge in step with the services that are registered with the gateway of the site.
import { isRefusal } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Worker } from '../../../kernel/role/role.ts'
import { hasSiteRole } from '../../../shared/routing/role-urls.ts'
import { fetchRegisteredServices } from '../../../shared/service-registry/fetch-registered.ts'
import { listRegisteredOwners } from '../../../shared/service-registry/registered-service.ts'
import { edgeRoutesPart } from '../parts.ts'

export const followRegistry: Worker = { name: 'follow-registry', when: { every_ms: 2_000 }, run }

/** While the gateway is away its last answer holds, each registration until its end. */
async function run(call: Call): Promise<void> {
  if (!hasSiteRole(call, 'gateway')) return
  const routes = call.part(edgeRoutesPart)
  const fetched = await fetchRegisteredServices(call).catch((error: unknown) => {
    if (isRefusal(error)) return error
    throw error
  })
  if (!isRefusal(fetched)) routes.registered = fetched
  routes.replaceRegistered(listRegisteredOwners(routes.registered, call.now()))
}
