// A service that is registered with the gateway, as the gateway shows it, and what routing takes from it.
import * as z from 'zod'
import { componentKinds } from '../../kernel/settings/gateway-settings.ts'
import { objectName, serviceName } from '../routing/ingress-settings.ts'
import type { RegisteredOwner } from '../routing/routing-table.ts'
import type { ServiceBackends } from '../routing/site-routing.ts'

/** `unverified`: its registration is renewed, but its service-info cannot be read again. `expired`: it gets no more requests. */
export const serviceStates = ['live', 'unverified', 'expired'] as const

/** `push`: the service registers by itself; `pull`: the profile names its URL; `stdio`: the gateway runs it as a process. */
export const registrationSources = ['push', 'pull', 'stdio'] as const

/** `open_for_callers`: for those whose own calls have failed. */
const breakerStates = ['closed', 'open_for_callers', 'open'] as const

const serviceTools = z.strictObject({
  accepted: z.int().meta({ description: 'Tools and resources' }),
  offered: z.int().meta({ description: 'Of these, those that callers can use now' }),
  list: z.enum(['read', 'unread']).meta({ description: 'Whether the gateway has read the list of the service' }),
  trouble: z.string().optional().meta({ description: 'Why the list cannot be read at present' }),
  breaker: z.enum(breakerStates),
})
export type RegisteredServiceTools = z.infer<typeof serviceTools>

export const registeredService = z
  .strictObject({
    name: serviceName,
    url: z.string().meta({
      description:
        'Scheme, host and port at which the service is reached; of a process, stdio with a digest of its command',
    }),
    component_kind: z.enum(componentKinds),
    source: z.enum(registrationSources),
    state: z.enum(serviceStates),
    objects: z.array(objectName),
    version: z.string().optional(),
    api_path: z.string().optional(),
    health_path: z.string().optional(),
    mcp_path: z.string().optional(),
    tools_count: z.int(),
    info_sha256: z.string().meta({ description: 'Of what is kept of its service-info, as canonical JSON' }),
    info_at: z.iso.datetime().meta({ description: 'When its service-info was read last' }),
    last_error: z.string().optional().meta({ description: 'Why its service-info could not be read again' }),
    ttl_seconds: z.int(),
    registered_by: z
      .string()
      .meta({ description: 'Subject of the token, or the role that reads the URLs of the profile' }),
    registered_at: z.iso.datetime(),
    expires_at: z.iso.datetime(),
    tools: serviceTools.optional().meta({
      description: 'Accepted tools of the service as this process of the gateway offers them; absent without any',
    }),
  })
  .meta({ id: 'RegisteredService' })
export type RegisteredService = z.infer<typeof registeredService>

/** What the routing of a site takes from the registry: owners of objects, and where each service is reached. */
export type RegisteredRouting = { readonly owners: readonly RegisteredOwner[]; readonly backends: ServiceBackends }

/** Of the services with a URL whose registration has not ended at this time, by name; `now` in epoch milliseconds. */
export function listRegisteredOwners(
  services: readonly Pick<RegisteredService, 'name' | 'url' | 'source' | 'objects' | 'expires_at'>[],
  now: number,
): RegisteredRouting {
  const current = services
    .filter(({ source, expires_at }) => source !== 'stdio' && Date.parse(expires_at) > now)
    .sort((one, other) => (one.name < other.name ? -1 : 1))
  return {
    owners: current.map(({ name, objects }) => ({ name, objects })),
    backends: new Map(current.map(({ name, url }) => [name, [url]])),
  }
}
