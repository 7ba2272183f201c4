// Reads the tools and resources of a service in the name of the administrator who requests them.
import { isRefusal, type Refusal } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { listResources } from '../../../kernel/tools/follow-tools.ts'
import type { RemoteResource } from '../../../kernel/tools/remote-resource.ts'
import type { RemoteTool } from '../../../kernel/tools/tool-service.ts'
import type { ToolAuthentication } from './model.ts'
import { serviceToolsPart, type ToolEndpoint } from './parts.ts'
import { type ListedTool, readListedResource, readListedTool } from './rules.ts'

/** Definitions whose digests are computed in one turn of the event loop: a list may hold megabytes. */
const definitions_per_turn = 16

/** By name, tools and resources. `trouble`: why the resources cannot be read, which does not concern the tools. */
export type ListReading = { readonly listed: readonly ListedTool[]; readonly trouble?: string }

/** The refusal of the service, or of `site` for the token. */
export async function readTools(
  call: Call,
  endpoint: ToolEndpoint,
  authentication: ToolAuthentication,
): Promise<ListReading | Refusal> {
  const { services, addressOf } = call.part(serviceToolsPart)
  const token = async () => {
    if (authentication === 'none') return undefined
    const issued = await call.delegation().token({ service: endpoint.service })
    if (isRefusal(issued)) throw issued
    return issued.token
  }
  try {
    const connection = await services.connect(addressOf(endpoint, token), call.signal)
    try {
      const tools = await connection.listTools()
      const resources = await listResources(connection)
      if (!isRefusal(resources)) return { listed: await readLists(call, tools, resources) }
      return { listed: await readLists(call, tools, []), trouble: resources.message }
    } finally {
      await connection.close()
    }
  } catch (error) {
    if (isRefusal(error)) return error
    throw error
  }
}

/** Sorted by name, so that lists of the gateway keep their order whatever the order of the service is. */
export async function readLists(
  { pause }: Pick<Call, 'pause'>,
  tools: readonly RemoteTool[],
  resources: readonly RemoteResource[],
): Promise<readonly ListedTool[]> {
  const listed: ListedTool[] = []
  for (const each of [...tools, ...resources]) {
    listed.push('uri' in each ? readListedResource(each) : readListedTool(each))
    if (listed.length % definitions_per_turn === 0) await pause()
  }
  return listed.sort((one, other) => (one.name < other.name ? -1 : 1))
}
