// MCP resources: lists the documents that the caller may read, and reads one by its URI through its operation.
import {
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  ResourceNotFoundError,
  type Server,
} from '@modelcontextprotocol/server'
import type { SurfaceRequest } from '../../../daemon/kernel/api/surface.ts'
import { isRefusal, type Refusal } from '../../../daemon/kernel/error/errors.ts'
import { PassedContents } from '../../../daemon/kernel/tools/remote-resource.ts'
import { readMeta } from './message-meta.ts'
import { documentType, type ResourceCatalogue } from './resource-catalogue.ts'
import type { ListedState } from './watch-lists.ts'

/** `cancelled`: aborted when the client cancels the request. `state`: of the lists that the session has read. */
export function offerResources(
  server: Server,
  resources: ResourceCatalogue,
  surfaceRequest: SurfaceRequest,
  { cancelled, state }: { readonly cancelled?: AbortSignal | undefined; readonly state?: ListedState | undefined },
): void {
  const { caller } = surfaceRequest
  const noteListed = () => {
    if (state) state.listed_resources = resources.stateFor(caller)
  }
  server.setRequestHandler('resources/list', () => {
    noteListed()
    return { resources: [...resources.resourcesFor(caller)] }
  })
  server.setRequestHandler('resources/templates/list', () => {
    noteListed()
    return { resourceTemplates: [...resources.templatesFor(caller)] }
  })
  server.setRequestHandler('resources/read', async ({ params: { uri } }) => {
    const found = resources.find(caller, uri)
    if (!found) throw new ResourceNotFoundError(uri)
    const { trace } = readMeta(surfaceRequest)
    const { outcome } = await surfaceRequest.perform(found.target, found.input, { headers: {}, trace, cancelled })
    if (isRefusal(outcome)) throw toProtocolError(uri, outcome)
    const { body } = outcome
    // Contents of every kind go on as they came: the client checks them, as it would those of the service itself.
    if (body instanceof PassedContents)
      return { contents: [...body.contents] as unknown as ReadResourceResult['contents'] }
    return { contents: [{ uri, mimeType: documentType, text: JSON.stringify(body) }] }
  })
}

function toProtocolError(uri: string, refused: Refusal): ProtocolError {
  if (refused.code === 'not_found') return new ResourceNotFoundError(uri)
  const isFault = refused.row.status >= 500
  return new ProtocolError(isFault ? ProtocolErrorCode.InternalError : ProtocolErrorCode.InvalidParams, refused.message)
}
