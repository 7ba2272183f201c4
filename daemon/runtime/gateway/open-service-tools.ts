// Opens how the gateway reaches the tools of other services: of registered ones, and of roles in other processes.
import { readFileSync } from 'node:fs'
import { type AddressRule, anyAddress, networkRule } from '../../../adapters/platform/address-rule/address-rule.ts'
import { product } from '../../../adapters/platform/product/product.ts'
import type { SiteResources } from '../../boot/site-resources.ts'
import { toolsTopic } from '../../kernel/api/mcp-tools.ts'
import type { PassedResource } from '../../kernel/api/passed-resources.ts'
import { builtInRoles } from '../../kernel/identity/identity.ts'
import type { AddressedOperation } from '../../kernel/operation/operation.ts'
import { getSettings } from '../../kernel/settings/get-settings.ts'
import { identitySettings } from '../../kernel/settings/platform-settings.ts'
import type { ResolvedSettings } from '../../kernel/settings/settings.ts'
import type { RemoteResourceRead } from '../../kernel/tools/remote-resource.ts'
import type {
  RemoteToolCall,
  RemoteToolOutcome,
  ToolServiceLimits,
  ToolServices,
  UntrustedObject,
} from '../../kernel/tools/tool-service.ts'
import { toPassedResource } from '../../roles/gateway/resource/aggregated-resource.ts'
import type { ServiceOffer, ServiceTools } from '../../roles/gateway/service-tool/parts.ts'
import { settings } from '../../roles/gateway/settings.ts'
import { toOperation } from '../../roles/gateway/tool/aggregated-tool.ts'
import { ingressSettings } from '../../shared/routing/ingress-settings.ts'
import type { OpenedStdioServers } from './open-stdio-servers.ts'
import { ToolConnections } from './tool-connections.ts'

/** Of roles of the site in other processes. */
const site_limits = { answer_ms: 30_000, answer_bytes: 16_777_216, depth: 128, tools: 500 }
/** Of services that are not trusted: an answer is parsed in one turn, and a list may change each second. */
const registered_limits = { ...site_limits, answer_bytes: 2_097_152 }

/** A call of a tool of a service that the profile names. */
export type SiteToolCall = {
  readonly service: string
  readonly url: URL
  readonly token: string | undefined
  readonly caller: string
  readonly isRead: boolean
  readonly call: RemoteToolCall
}

/** A read of a document of such a service. */
export type SiteResourceRead = Pick<SiteToolCall, 'service' | 'url' | 'token' | 'caller'> & {
  readonly read: RemoteResourceRead
}

export type OpenedServiceTools = {
  readonly part: ServiceTools
  /** Of a role of the site in another process. */
  callSiteTool(request: SiteToolCall): Promise<RemoteToolOutcome>
  readSiteResource(request: SiteResourceRead): Promise<readonly UntrustedObject[] | undefined>
  /** Of registered services, by service and name: the same array until they change. */
  listOffered(): readonly AddressedOperation[]
  /** Resources, by service and URI, in the same way. */
  listResources(): readonly PassedResource[]
  close(): void
}

export function openServiceTools(
  { resolved, announcements, random }: Pick<SiteResources, 'resolved' | 'announcements' | 'random'>,
  given: Pick<ServiceTools, 'own' | 'isOffering'>,
  stdioServers: Pick<OpenedStdioServers, 'join'>,
): OpenedServiceTools {
  const { ca_file } = getSettings(resolved, settings)
  const ca = ca_file === undefined ? undefined : readFileSync(ca_file, 'utf8')
  const rule = networkRule(getSettings(resolved, ingressSettings).registered_networks)
  const registered = stdioServers.join(lazyServices(rule, registered_limits))
  const ofProfile = lazyServices(anyAddress, site_limits)
  const connections = new ToolConnections(() => performance.now(), random)
  const offered = new Map<string, ServiceOffer>()
  let operations: readonly AddressedOperation[] = []
  let resources: readonly PassedResource[] = []
  const part: ServiceTools = {
    ...{ ...given, services: registered, states: new Map(), permissions: listPermissions(resolved) },
    addressOf: ({ url }, token) => ({ url, token, ca }),
    callTool({ service, url }, token, { isRead, caller, client, ...call }) {
      const reached = { services: registered, service, address: { url, ca }, token }
      return connections.callTool({ ...reached, caller, client, isRead, call })
    },
    readResource: ({ service, url }, token, { caller, ...read }) =>
      connections.readResource({ services: registered, service, address: { url, ca }, token, caller, read }),
    offer(service, next) {
      const before = offered.get(service) ?? nothing
      if (isSameOffer(before, next)) return
      offered.set(service, next)
      const gone = findChanged(before.tools, next.tools)
      connections.endHeld(service, (name) => gone.has(name))
      operations = listByService(offered, ({ tools }) => tools).map(toOperation)
      resources = listByService(offered, (each) => each.resources).map(toPassedResource)
      announcements.announce(toolsTopic('gateway'))
    },
    resourcesOf: (service) => (offered.get(service) ?? nothing).resources.map(({ resource }) => resource),
    countOffered(service) {
      const { tools, resources } = offered.get(service) ?? nothing
      return given.isOffering ? tools.length + resources.length : 0
    },
    listOpenBreakers: () => connections.breakers.listOpen(),
  }
  return {
    part,
    callSiteTool: ({ service, url, ...request }) =>
      connections.callTool({ services: ofProfile, service, address: { url, ca }, ...request }),
    readSiteResource: ({ url, ...request }) =>
      connections.readResource({ services: ofProfile, address: { url, ca }, ...request }),
    listOffered: () => operations,
    listResources: () => resources,
    close: () => connections.close(),
  }
}

/** Whole nouns, and `*`, are those of administrators. */
function listPermissions(resolved: ResolvedSettings): ReadonlySet<string> {
  const ofRoles = Object.values({ ...getSettings(resolved, identitySettings).roles, ...builtInRoles }).flat()
  return new Set(ofRoles.filter((permission) => !permission.includes('*')).sort())
}

/** The library is loaded with the first connection. */
function lazyServices(rule: AddressRule, limits: ToolServiceLimits): ToolServices {
  let loaded: Promise<ToolServices> | undefined
  const load = () =>
    (loaded ??= import('../../../adapters/tools/mcp/connect-tools.ts').then(({ mcpToolServices }) =>
      mcpToolServices({ about: { name: 'gateway', version: product.version }, limits, rule }),
    ))
  return { connect: async (address, signal) => (await load()).connect(address, signal) }
}

const nothing: ServiceOffer = { tools: [], resources: [] }

function listByService<T>(
  offered: ReadonlyMap<string, ServiceOffer>,
  pick: (offer: ServiceOffer) => readonly T[],
): readonly T[] {
  return [...offered].sort(([one], [other]) => (one < other ? -1 : 1)).flatMap(([, offer]) => pick(offer))
}

/** Names of the tools that are offered no longer, or otherwise than before. */
function findChanged(before: ServiceOffer['tools'], after: ServiceOffer['tools']): ReadonlySet<string> {
  const kept = new Map(after.map((tool) => [tool.name, JSON.stringify(tool)]))
  return new Set(before.flatMap((tool) => (kept.get(tool.name) === JSON.stringify(tool) ? [] : [tool.name])))
}

function isSameOffer(before: ServiceOffer, after: ServiceOffer): boolean {
  return JSON.stringify(before) === JSON.stringify(after)
}
