// The resources of a surface as they are now: those of its role, and those of other services, which may change while it runs.
import { hash } from 'node:crypto'
import { findResource, isTemplate, type McpResource } from '../../../daemon/kernel/api/mcp-resources.ts'
import type { PassedResource } from '../../../daemon/kernel/api/passed-resources.ts'
import { isOfferedTo } from '../../../daemon/kernel/identity/admit-caller.ts'
import type { Caller } from '../../../daemon/kernel/identity/identity.ts'
import type { AddressedOperation } from '../../../daemon/kernel/operation/operation.ts'
import { findCovering } from '../../../daemon/kernel/tools/remote-resource.ts'

/** As lists of the protocol describe a resource, or a template of resources. */
type DescribedResource = {
  readonly name: string
  readonly title?: string
  readonly description?: string
  readonly mimeType?: string
}
export type ShownResource = DescribedResource & { readonly uri: string }
export type ShownTemplate = DescribedResource & { readonly uriTemplate: string }

export type FoundResource = { readonly target: AddressedOperation; readonly input: Readonly<Record<string, unknown>> }

/** Of the documents that the role's own operations answer with. */
export const documentType = 'application/json'

export class ResourceCatalogue {
  readonly #own: readonly McpResource[]
  readonly #listPassed: () => readonly PassedResource[]
  /** As the protocol declares it. */
  readonly capability: { readonly resources?: { readonly listChanged?: true } }
  readonly #digests = new WeakMap<PassedResource, string>()

  /** `listPassed`: the same array until the resources of other services change; absent: there are never any. */
  constructor(own: readonly McpResource[], listPassed: (() => readonly PassedResource[]) | undefined) {
    this.#own = own
    this.#listPassed = listPassed ?? (() => [])
    const isOffering = own.length > 0 || listPassed !== undefined
    this.capability = isOffering ? { resources: listPassed ? { listChanged: true } : {} } : {}
  }

  /** Whether the surface has resources at all. */
  get isOffering(): boolean {
    return this.capability.resources !== undefined
  }

  resourcesFor(caller: Caller): readonly ShownResource[] {
    const own = this.#ownFor(caller).filter((resource) => !isTemplate(resource))
    const passed = this.#passedFor(caller).filter(({ kind }) => kind === 'resource')
    return [...own.map((each) => ({ uri: each.uri, ...describeOwn(each) })), ...passed.map(showPassed)]
  }

  templatesFor(caller: Caller): readonly ShownTemplate[] {
    const own = this.#ownFor(caller).filter(isTemplate)
    const passed = this.#passedFor(caller).filter(({ kind }) => kind === 'template')
    return [
      ...own.map((each) => ({ uriTemplate: each.uri, ...describeOwn(each) })),
      ...passed.map((each) => ({ uriTemplate: each.uri, ...describePassed(each) })),
    ]
  }

  /** The resource at a URI; undefined for none, and for one that the caller may not read, whatever wider one has it too. */
  find(caller: Caller, uri: string): FoundResource | undefined {
    const own = findResource(this.#ownFor(caller), uri)
    if (own) return { target: own.resource.target, input: own.input }
    const passed = findCovering(this.#listPassed(), uri)
    return passed && isOfferedTo(caller, passed.target.operation)
      ? { target: passed.target, input: { uri } }
      : undefined
  }

  /** Differs whenever the caller would read another list. */
  stateFor(caller: Caller): string {
    return this.#passedFor(caller)
      .map((resource) => this.#digestOf(resource))
      .join()
  }

  #ownFor(caller: Caller): readonly McpResource[] {
    return this.#own.filter(({ target }) => isOfferedTo(caller, target.operation))
  }

  #passedFor(caller: Caller): readonly PassedResource[] {
    return this.#listPassed().filter(({ target }) => isOfferedTo(caller, target.operation))
  }

  #digestOf(resource: PassedResource): string {
    const known = this.#digests.get(resource)
    if (known !== undefined) return known
    const { target: _, ...shown } = resource
    const digest = hash('sha256', JSON.stringify(shown), 'base64url')
    this.#digests.set(resource, digest)
    return digest
  }
}

function describeOwn({ name, description }: McpResource): DescribedResource {
  return { name, description, mimeType: documentType }
}

function showPassed(resource: PassedResource): ShownResource {
  return { uri: resource.uri, ...describePassed(resource) }
}

function describePassed({ name, title, description, mime_type }: PassedResource): DescribedResource {
  return {
    name,
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    ...(mime_type === undefined ? {} : { mimeType: mime_type }),
  }
}
