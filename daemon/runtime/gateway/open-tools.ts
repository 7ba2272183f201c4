// Opens the tools of the gateway: those of the site's roles from the code, then those that were accepted of registered services.
import type { SiteResources } from '../../boot/site-resources.ts'
import type { PassedResource } from '../../kernel/api/passed-resources.ts'
import type { AddressedOperation } from '../../kernel/operation/operation.ts'
import { serviceToolsPart } from '../../roles/gateway/service-tool/parts.ts'
import { toOperation } from '../../roles/gateway/tool/aggregated-tool.ts'
import { openServiceTools } from './open-service-tools.ts'
import { listSiteTools } from './site-tools.ts'

export type OpenedTools = {
  readonly part: readonly [string, unknown]
  /** The same array until they change. */
  list(): readonly AddressedOperation[]
  /** Of registered services, in the same way. */
  resources(): readonly PassedResource[]
  close(): void
}

/** `isOffering`: false where the deployment profile offers no tools: none is listed then, to the chat neither. */
export async function openTools(resources: SiteResources, isOffering: boolean): Promise<OpenedTools> {
  const own = new Map<string, Set<string>>()
  const opened = openServiceTools(resources, { own, isOffering })
  const { callSiteTool } = opened
  const siteTools = isOffering ? await listSiteTools({ ...resources, callSiteTool }) : []
  for (const { service, name } of siteTools) own.set(service, (own.get(service) ?? new Set()).add(name))
  const siteOperations = siteTools.map(toOperation)
  let joined: readonly AddressedOperation[] = siteOperations
  let last: readonly AddressedOperation[] | undefined
  return {
    part: [serviceToolsPart.name, opened.part],
    list() {
      if (!isOffering) return siteOperations
      const offered = opened.listOffered()
      if (offered !== last) joined = [...siteOperations, ...offered]
      last = offered
      return joined
    },
    resources: opened.listResources,
    close: opened.close,
  }
}
