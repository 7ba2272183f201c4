// URIs in answers of a service as the gateway offers them, so that a client can read what an answer refers to.

import type { Call } from '../../../kernel/operation/call.ts'
import { coversUri, type RemoteResource } from '../../../kernel/tools/remote-resource.ts'
import type { RemoteToolResult, UntrustedObject } from '../../../kernel/tools/tool-service.ts'
import { offered_scheme, offeredUri } from './resource-uri.ts'

/** Contents are all of the service that was read, also those that are not accepted by themselves. */
export function offerContents(service: string, contents: readonly UntrustedObject[]): readonly UntrustedObject[] {
  return contents.map((content) => offerUri(service, content, () => true))
}

/** Blocks of a result that are compared with the accepted resources in one turn of the event loop. */
const blocks_per_turn = 256

/** Links and embedded documents of a tool's result, where they belong to an accepted resource: others are left as they are. */
export async function offerLinks(
  { pause }: Pick<Call, 'pause'>,
  { service, accepted }: { readonly service: string; readonly accepted: readonly RemoteResource[] },
  result: RemoteToolResult,
): Promise<RemoteToolResult> {
  // Such a URI would be taken for that of a resource of another service, whatever is behind it.
  const isOffered = (uri: string) =>
    uri.toLowerCase().startsWith(offered_scheme) || accepted.some((resource) => coversUri(resource, uri))
  const content: UntrustedObject[] = []
  for (const block of result.content) {
    content.push(offerBlock(service, block, isOffered))
    if (content.length % blocks_per_turn === 0) await pause()
  }
  return { ...result, content }
}

type UriTest = (uri: string) => boolean

function offerBlock(service: string, block: UntrustedObject, isOffered: UriTest): UntrustedObject {
  if (block.type === 'resource_link') return offerUri(service, block, isOffered)
  if (block.type !== 'resource' || !isObject(block.resource)) return block
  return { ...block, resource: offerUri(service, block.resource, isOffered) }
}

function offerUri(service: string, block: UntrustedObject, isOffered: UriTest): UntrustedObject {
  const { uri } = block
  return typeof uri === 'string' && isOffered(uri) ? { ...block, uri: offeredUri(service, uri) } : block
}

function isObject(value: unknown): value is UntrustedObject {
  return typeof value === 'object' && value !== null
}
