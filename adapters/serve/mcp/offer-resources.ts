// MCP resources: lists the documents that the caller may read, and reads one by its URI through its operation.
import { ProtocolError, ProtocolErrorCode, ResourceNotFoundError, type Server } from '@modelcontextprotocol/server'
import { findResource, isTemplate, type McpResource } from '../../../daemon/kernel/api/mcp-resources.ts'
import type { SurfaceRequest } from '../../../daemon/kernel/api/surface.ts'
import { isRefusal, type Refusal } from '../../../daemon/kernel/error/errors.ts'
import { isOfferedTo } from '../../../daemon/kernel/identity/admit-caller.ts'
import { readMeta } from './message-meta.ts'

const mimeType = 'application/json'

/** `cancelled`: aborted when the client cancels the request. */
export function offerResources(
  server: Server,
  resources: readonly McpResource[],
  surfaceRequest: SurfaceRequest,
  cancelled: AbortSignal | undefined,
): void {
  const own = resources.filter(({ target }) => isOfferedTo(surfaceRequest.caller, target.operation))
  server.setRequestHandler('resources/list', () => ({
    resources: own
      .filter((resource) => !isTemplate(resource))
      .map(({ uri, name, description }) => ({ uri, name, description, mimeType })),
  }))
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: own
      .filter(isTemplate)
      .map(({ uri: uriTemplate, name, description }) => ({ uriTemplate, name, description, mimeType })),
  }))
  server.setRequestHandler('resources/read', async ({ params: { uri } }) => {
    const found = findResource(own, uri)
    if (!found) throw new ResourceNotFoundError(uri)
    const { trace } = readMeta(surfaceRequest)
    const options = { headers: {}, trace, cancelled }
    const { outcome } = await surfaceRequest.perform(found.resource.target, found.input, options)
    if (isRefusal(outcome)) throw toProtocolError(uri, outcome)
    return { contents: [{ uri, mimeType, text: JSON.stringify(outcome.body) }] }
  })
}

function toProtocolError(uri: string, refused: Refusal): ProtocolError {
  if (refused.code === 'not_found') return new ResourceNotFoundError(uri)
  const isFault = refused.row.status >= 500
  return new ProtocolError(isFault ? ProtocolErrorCode.InternalError : ProtocolErrorCode.InvalidParams, refused.message)
}
