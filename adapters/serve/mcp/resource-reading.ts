// Documents by URI: lists those that the caller may read, and reads one as its operation answers.
import { ProtocolError, ProtocolErrorCode, ResourceNotFoundError, type Server } from '@modelcontextprotocol/server'
import { isRefused, type Refused } from '../../../daemon/kernel/errors.ts'
import { permits } from '../../../daemon/kernel/identity.ts'
import { isTemplate, type Resource, resourceAt } from '../../../daemon/kernel/resources.ts'
import type { SurfaceRequest } from '../../../daemon/kernel/surface.ts'

const mimeType = 'application/json'

/** `cancelled`: aborted when the client cancels the request. */
export function offerResources(
  server: Server,
  resources: readonly Resource[],
  asked: SurfaceRequest,
  cancelled: AbortSignal | undefined,
): void {
  const own = resources.filter(({ target }) => permits(asked.caller.permissions, target.operation.allow))
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
    const found = resourceAt(own, uri)
    if (!found) throw new ResourceNotFoundError(uri)
    const { outcome } = await asked.perform(found.resource.target, found.input, { headers: {}, cancelled })
    if (isRefused(outcome)) throw unread(uri, outcome)
    return { contents: [{ uri, mimeType, text: JSON.stringify(outcome.body) }] }
  })
}

function unread(uri: string, refused: Refused): ProtocolError {
  if (refused.code === 'not_found') return new ResourceNotFoundError(uri)
  const isFault = refused.row.status >= 500
  return new ProtocolError(isFault ? ProtocolErrorCode.InternalError : ProtocolErrorCode.InvalidParams, refused.message)
}
