// Rules of registrations: subjects that may use a name, objects that stay with their owner, and the age at which service-info is read again.
import { type Refusal, refuse } from '../../../kernel/error/errors.ts'
import { object_prefixes, type RoutedService, routedServices } from '../../../shared/routing/routed-services.ts'
import type { ServiceRegistration } from '../../../shared/service-registration/service-registration.ts'
import type { registrationSources } from '../../../shared/service-registry/registered-service.ts'
import type { StoredService } from '../registered-service/model.ts'
import type { SiteRouting } from '../route/model.ts'

/** How long the service-info of a service counts before a renewal reads it again. */
const info_lifetime_ms = 300_000

/** `url`: an origin, without a slash at its end. `subject`: of the token, or the role for URLs of the profile. */
export type RegistrationRequest = ServiceRegistration & {
  readonly source: (typeof registrationSources)[number]
  readonly subject: string
}

export type RegistrationTerms = {
  /** Subjects by name of service, from the profile. */
  readonly registrants: Readonly<Record<string, string>>
  /** Names of the servers that the gateway runs itself. */
  readonly stdio_servers: ReadonlySet<string>
  readonly routing: SiteRouting
}

const routedNames: ReadonlySet<string> = new Set(routedServices.map(({ name }) => name))

function findPinned(name: string, { registrants }: RegistrationTerms): string | undefined {
  return Object.hasOwn(registrants, name) ? registrants[name] : undefined
}

/** Names that the profile or the interface documents give to somebody: they always have a place. */
export function isReservedName(name: string, terms: RegistrationTerms): boolean {
  if (routedNames.has(name) || terms.routing.backends.has(name) || terms.stdio_servers.has(name)) return true
  return findPinned(name, terms) !== undefined
}

/**
 * Undefined when the requester may use the name. A service of the profile's URLs names itself: it has a name of the platform
 * only where the profile says that this service is there.
 */
export function checkName(request: RegistrationRequest, terms: RegistrationTerms): Refusal | undefined {
  const { name, url, source, subject } = request
  if (!isReservedName(name, terms)) return undefined
  if (source === 'stdio') return undefined
  if (terms.stdio_servers.has(name))
    return refuse('forbidden', `${name} is a server of the site itself: the profile names it in gateway.stdio_servers`)
  if (source === 'pull') {
    if (terms.routing.backends.get(name)?.includes(url)) return undefined
    return refuse('forbidden', `the profile does not say that ${name} is at this URL: name it in ingress.backends`)
  }
  if (subject === (findPinned(name, terms) ?? terms.routing.own_subject)) return undefined
  return refuse('forbidden', `another subject may register ${name}: the profile says who, in gateway.registrants`)
}

/**
 * Whether a request may renew a registration that has not ended. The profile and the service itself may both name one URL;
 * the first of them stays its registrant. A process of the site is not a service at a URL.
 */
export function mayRenew(current: StoredService, { url, source, subject }: RegistrationRequest): boolean {
  if (current.source !== source && [current.source, source].includes('stdio')) return false
  if (current.url === url && current.source !== source) return true
  // Of two URLs of the profile with one name, the first one stays.
  return isRegistrant(current, subject) && (source !== 'pull' || current.url === url)
}

export function isRegistrant({ registered_by }: StoredService, subject: string): boolean {
  return registered_by === subject
}

/** Whether the registration can be renewed without a look at the service. */
export function isFresh(current: StoredService, request: RegistrationRequest, now: number): boolean {
  if (request.source !== 'push') return false
  // A clock that was set back makes nothing fresh.
  const isRecent = now >= current.info_ts && now - current.info_ts < info_lifetime_ms
  return current.state === 'live' && isRecent && isSameService(current, request)
}

export function isSameService(current: StoredService, { url, component_kind }: RegistrationRequest): boolean {
  return current.url === url && current.component_kind === component_kind
}

/** Service that has the object whatever is registered: by the interface documents, or by the profile in their place. */
export function findFixedOwner(object: string, { options }: SiteRouting): string | undefined {
  const services: readonly RoutedService[] = routedServices
  const isOwner = ({ name, objects, paths }: RoutedService) =>
    objects.includes(object) ||
    options.objects[name]?.includes(object) ||
    paths.some((path) => object_prefixes.some((prefix) => `${path}/`.startsWith(`${prefix}/${object}/`)))
  return services.find(isOwner)?.name
}

/** Undefined when no object belongs to another service of the platform. */
export function checkObjects(service: string, objects: readonly string[], routing: SiteRouting): Refusal | undefined {
  const owned = objects.flatMap((object) => {
    const owner = findFixedOwner(object, routing)
    return owner === undefined || owner === service ? [] : [{ object, owner }]
  })
  return owned[0] && refuseObject(owned[0])
}

export function refuseObject({ object, owner }: { readonly object: string; readonly owner: string }): Refusal {
  return refuse('already_exists', `the object ${object} belongs to ${owner}`)
}
