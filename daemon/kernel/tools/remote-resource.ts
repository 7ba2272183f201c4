// Resources of another service: documents that its clients read by URI, and templates of the URIs of such documents.
import type { HeaderFields } from '../api/surface.ts'
import type { UntrustedObject } from './tool-service.ts'

/** A resource as its service describes it. All text is the service's own: render it as untrusted text. */
export type ResourceDefinition = {
  /** `template`: of every document whose URI begins with the part of the template before its first variable. */
  readonly kind: 'resource' | 'template'
  readonly name: string
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly mime_type?: string | undefined
}

/** `uri`: of a template with its variables in braces; one word in the characters of RFC 3986 and RFC 6570. */
export type RemoteResource = ResourceDefinition & { readonly uri: string }

/** Longest URI that a list may have. */
export const max_listed_uri = 2_048

/** Longest URI that is read. */
export const max_read_uri = 4_096

export const resourceUriPattern = /^[A-Za-z][A-Za-z0-9+.-]*:[\w.~:/?#[\]@!$&'()*+,;=%-]+$/
export const templateUriPattern =
  /^[A-Za-z][A-Za-z0-9+.-]*:[\w.~:/?#[\]@!$&'()*+,;=%|-]*\{[\w.~:/?#[\]@!$&'()*+,;=%|{}-]+$/

export type RemoteResourceRead = {
  readonly uri: string
  readonly timeout_ms: number
  /** Ends the read, also at the service. */
  readonly cancelled?: AbortSignal | undefined
  /** `traceparent` and `tracestate` of the caller, sent as they are. */
  readonly trace?: HeaderFields | undefined
}

/** The answer of an operation that passes on the contents of a resource of another service: each has `uri`, and `text` or `blob`. */
export class PassedContents {
  readonly contents: readonly UntrustedObject[]

  constructor(contents: readonly UntrustedObject[]) {
    this.contents = contents
  }
}

/** The part of a template before its first variable: the URIs of its documents begin with it. */
export function literalPart(template: string): string {
  return template.split('{', 1)[0] ?? ''
}

/** Whether the URI is that of the resource, or of a document of the template. */
export function coversUri({ kind, uri }: Pick<RemoteResource, 'kind' | 'uri'>, requested: string): boolean {
  return kind === 'template' ? requested.startsWith(literalPart(uri)) : requested === uri
}

/** The resource of a URI: the exact one, else the template with the longest part before its first variable. */
export function findCovering<T extends Pick<RemoteResource, 'kind' | 'uri'>>(
  resources: readonly T[],
  requested: string,
): T | undefined {
  let best: T | undefined
  for (const resource of resources) {
    if (!coversUri(resource, requested)) continue
    if (resource.kind === 'resource') return resource
    if (!best || literalPart(resource.uri).length > literalPart(best.uri).length) best = resource
  }
  return best
}
