// URIs of resources of other services as the gateway offers them: the name of the service before the URI as it is there.
import { decodeEscapes } from '../../../kernel/text/decode-escapes.ts'
import {
  coversUri,
  literalPart,
  max_read_uri,
  type RemoteResource,
  resourceUriPattern,
} from '../../../kernel/tools/remote-resource.ts'

export const offered_scheme = 'gateway:'

/** As it is and without escapes, so that the URI of the service is exactly what follows. Of a template, too. */
export function offeredUri(service: string, uri: string): string {
  return `${offered_scheme}//${service}/${uri}`
}

/** The URI at the service; undefined for one of another service. */
export function uriAtService(service: string, offered: string): string | undefined {
  const prefix = offeredUri(service, '')
  return offered.startsWith(prefix) ? offered.slice(prefix.length) : undefined
}

/** Escapes of escapes: a service that decodes more often has itself to blame. */
const max_decodings = 4

/** Where services end a segment of a path, or a value in a query. */
const separators = /[/\\?#&=;,:]/

/**
 * Why a URI is not read, though it is that of a document of the template; undefined for none. A template stands for what is
 * below its literal part: segments that lead elsewhere are refused, in each spelling that a service could decode.
 */
export function findUriFault(resource: Pick<RemoteResource, 'kind' | 'uri'>, uri: string): string | undefined {
  if (uri.length > max_read_uri) return `has more than ${max_read_uri} characters`
  if (!resourceUriPattern.test(uri)) return 'must be a URI in ASCII, without blanks and braces'
  if (!coversUri(resource, uri)) return 'is not that of an accepted resource'
  if (resource.kind === 'resource') return undefined
  // With what stands before it in its segment: of `a/.{name}`, the document `./b` is `a/../b`.
  const literal = literalPart(resource.uri)
  const begin = Math.max(...['/', ':', '?', '#', '='].map((separator) => literal.lastIndexOf(separator)))
  return findSegmentFault(uri.slice(begin + 1))
}

const isDots = (segment: string) => ['.', '..'].includes(segment.trim())

function findSegmentFault(rest: string): string | undefined {
  let text = rest
  for (let decodings = 0; decodings <= max_decodings; decodings += 1) {
    if (/[\p{Cc}\ufffd]/u.test(text)) return 'has escapes of characters that are not text'
    // Full-width dots and blanks at the end are dropped by some.
    if (text.normalize('NFKC').split(separators).some(isDots))
      return 'has a segment . or .. after the part that was accepted'
    const decoded = decodeEscapes(text)
    if (decoded === text) return undefined
    text = decoded
  }
  return 'has escapes of escapes'
}
