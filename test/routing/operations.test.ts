// Every operation of every role is routed to its role, by a rule of its own and never by the catch-all.
import { expect, test } from 'vitest'
import { everyOperation, everyRole } from '../../daemon/every-role.ts'
import { indexRoutes } from '../../daemon/shared/routing/find-route.ts'
import { routedServices } from '../../daemon/shared/routing/routed-services.ts'
import { buildRoutingTable, defaultRouting, rulePriorities } from '../../daemon/shared/routing/routing-table.ts'

const services = [...routedServices]
const served = new Set<string>(services.map(({ name }) => name))
const findRoute = indexRoutes(buildRoutingTable({ ...defaultRouting, served }))
const roleOf = (service: string | undefined) => {
  const found = services.find(({ name }) => name === service)
  return found && 'role' in found ? found.role : service
}

/** Those that every role has at one path are for its own listener, and those of a role with a public listener for its local socket. */
const isRouted = (role: string, address: string) =>
  !/\.service\.(live|health|info|metrics|openapi|audit|backup)$/.test(address) &&
  !everyRole.find(({ name }) => name === role)?.has_public_listener

const routed = everyOperation.flatMap(({ role, address, operation: { path, also = [] } }) =>
  path !== undefined && isRouted(role, address) ? [path, ...also].map((each) => ({ role, address, path: each })) : [],
)

test.each(routed)('$address at $path', ({ role, path }) => {
  const rule = findRoute('site.example', path.replaceAll(/\{[^}]+\}/g, '7'))
  expect(roleOf(rule?.service)).toBe(role)
  expect(rule?.priority).toBe(rulePriorities.own)
})

/** The edge is what routes. */
const owners = everyRole.filter(({ name }) => name !== 'edge')

test.each(owners)('$name is routed to at the port of its listener', ({ name, listeners }) => {
  const service = services.find((each) => 'role' in each && each.role === name)
  expect(service?.port).toBe(listeners[0].port)
})
