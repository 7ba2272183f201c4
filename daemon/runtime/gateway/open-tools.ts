// Opens the tools and resources of the gateway: those of the site's roles from the code, then those that were accepted of registered services.
import type { SiteResources } from '../../boot/site-resources.ts'
import type { PassedResource } from '../../kernel/api/passed-resources.ts'
import type { AddressedOperation } from '../../kernel/operation/operation.ts'
import { toPassedResource } from '../../roles/gateway/resource/aggregated-resource.ts'
import { serviceToolsPart } from '../../roles/gateway/service-tool/parts.ts'
import { toOperation } from '../../roles/gateway/tool/aggregated-tool.ts'
import { openServiceTools } from './open-service-tools.ts'
import type { OpenedStdioServers } from './open-stdio-servers.ts'
import { listSiteResources } from './site-resources.ts'
import { listSiteTools } from './site-tools.ts'

export type OpenedTools = {
  readonly part: readonly [string, unknown]
  /** The same array until they change. */
  list(): readonly AddressedOperation[]
  /** Resources, in the same way. */
  resources(): readonly PassedResource[]
  close(): void
}

/** `isOffering`: false where the deployment profile offers no tools: neither they nor resources are listed then, to the chat neither. */
export async function openTools(
  resources: SiteResources,
  stdioServers: OpenedStdioServers,
  isOffering: boolean,
): Promise<OpenedTools> {
  const own = new Map<string, Set<string>>()
  const opened = openServiceTools(resources, { own, isOffering }, stdioServers)
  const { callSiteTool, readSiteResource } = opened
  const sources = { ...resources, callSiteTool, readSiteResource }
  const siteTools = isOffering ? await listSiteTools(sources) : []
  const siteResources = isOffering ? (await listSiteResources(sources)).map(toPassedResource) : []
  for (const { service, name } of siteTools) own.set(service, (own.get(service) ?? new Set()).add(name))
  const siteOperations = siteTools.map(toOperation)
  const tools = joinLists(siteOperations, opened.listOffered)
  const resourceList = joinLists(siteResources, opened.listResources)
  return {
    part: [serviceToolsPart.name, opened.part],
    list: () => (isOffering ? tools() : siteOperations),
    resources: () => (isOffering ? resourceList() : siteResources),
    close: opened.close,
  }
}

/** The same array until what is listed changes. */
function joinLists<T>(first: readonly T[], list: () => readonly T[]): () => readonly T[] {
  let joined = first
  let last: readonly T[] | undefined
  return () => {
    const current = list()
    if (current !== last) joined = [...first, ...current]
    last = current
    return joined
  }
}
