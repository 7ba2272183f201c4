// Lists the rules by which requests reach services: those of the profile, and the objects of registered services.
import * as z from 'zod'
import type { Call } from '../../../kernel/operation/call.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { exactTotal, listFields, pageSchema } from '../../../kernel/operation/paging.ts'
import { readCursor, writeCursor } from '../../../kernel/store/list-cursor.ts'
import { serviceName } from '../../../shared/routing/ingress-settings.ts'
import { buildRoutingTable, type RoutingRule } from '../../../shared/routing/routing-table.ts'
import { listRegisteredOwners } from '../../../shared/service-registry/registered-service.ts'
import { siteRoutingPart } from '../parts.ts'
import { loadServices } from '../registered-service/load-services.ts'

const route = z
  .strictObject({
    ingress: z.string(),
    host: z.string().optional().meta({ description: 'Absent: any host that no other rule names' }),
    prefix: z.string(),
    priority: z.int().meta({ description: 'Of two rules with one prefix, the higher one holds' }),
    service: z.string(),
    backends: z.array(z.string()).meta({ description: 'None: requests are answered no_backend' }),
  })
  .meta({ id: 'Route' })

export const list = operation({
  summary: 'List the rules of routing that are in force, by host and prefix',
  method: 'GET',
  path: '/api/v2/gateway/route',
  input: z.strictObject({
    ...listFields,
    service: serviceName.optional().meta({ description: 'Only rules that lead to this service' }),
  }),
  output: pageSchema(route).meta({ id: 'RoutePage' }),
  errors: [],
  allow: 'gateway:read',

  async run(call, { limit, cursor, service }) {
    const query = {
      filter: service === undefined ? {} : { service },
      limit,
      ...(cursor === undefined ? {} : { cursor }),
    }
    const after = readCursor('route', query)?.id
    const all = (await listRoutes(call)).filter((each) => service === undefined || each.rule.service === service)
    const rest = after === undefined ? all : all.filter(({ key }) => key > after)
    const items = rest.slice(0, limit)
    const last = items.at(-1)
    const next =
      last && rest.length > limit ? { next_cursor: writeCursor('route', query, { value: null, id: last.key }) } : {}
    return { items: items.map(({ shown }) => shown), ...next, ...exactTotal(all.length) }
  },
})

/** Of the tenant of the site: another one has none. */
async function listRoutes(call: Call) {
  const { tenant_id } = call.caller
  if (tenant_id !== call.site.tenant_id && tenant_id !== '*') return []
  const { backends, options } = call.part(siteRoutingPart)
  const { owners, backends: registered } = listRegisteredOwners(await loadServices(call), call.now())
  const urls = new Map([...registered, ...backends])
  const rules = buildRoutingTable({ ...options, registered: owners, served: new Set(urls.keys()) })
  return rules
    .map((rule) => ({ rule, key: keyOf(rule), shown: showRoute(rule, urls.get(rule.service) ?? []) }))
    .sort((one, other) => (one.key < other.key ? -1 : 1))
}

/** No two rules have host, prefix and priority in common. */
function keyOf({ host = '', prefix, priority }: RoutingRule): string {
  return `${host} ${prefix} ${String(9_999 - priority).padStart(4, '0')}`
}

function showRoute({ ingress, host, prefix, priority, service }: RoutingRule, backends: readonly string[]) {
  return { ingress, ...(host === undefined ? {} : { host }), prefix, priority, service, backends: [...backends] }
}
