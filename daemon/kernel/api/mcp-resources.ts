// MCP resources: documents that AI clients read by a URI, each what an operation of the role answers.

import type { AddressedOperation, AnyOperation } from '../operation/operation.ts'
import type { DeploymentProfile } from '../role/site.ts'
import { offersTools } from './mcp-tools.ts'

export type McpResourceDeclaration = {
  /** As in `fusion://runs/{run_id}`: what stands between braces is a field of the operation's input. */
  readonly uri: string
  readonly name: string
  readonly description: string
  /** One that reads. */
  readonly operation: AnyOperation
  /** Further fields of its input. */
  readonly input?: Readonly<Record<string, unknown>>
}

export type McpResource = Omit<McpResourceDeclaration, 'operation'> & { readonly target: AddressedOperation }

/** The resources of a role where the site stands so: none where it offers no tools. */
export function resourcesForProfile(
  profile: DeploymentProfile,
  declared: readonly McpResourceDeclaration[],
  operations: readonly AddressedOperation[],
): readonly McpResource[] {
  if (!offersTools(profile)) return []
  return declared.map(({ operation, ...resource }) => {
    const target = operations.find((each) => each.operation === operation)
    if (!target) throw new TypeError(`${resource.uri} is an operation of another role`)
    return { ...resource, target }
  })
}

/** Whether its URI has places to fill in. */
export function isTemplate({ uri }: McpResource): boolean {
  return uri.includes('{')
}

/** The resource at a URI, with the input that the URI carries; undefined when there is none. */
export function findResource(resources: readonly McpResource[], uri: string) {
  for (const resource of resources) {
    const found = matchUri(resource.uri, uri)
    if (found) return { resource, input: { ...resource.input, ...found } }
  }
  return undefined
}

/** A field holds one segment of the URI. */
function matchUri(template: string, uri: string): Record<string, string> | undefined {
  const [pattern, given] = [template.split('/'), uri.split('/')]
  if (pattern.length !== given.length) return undefined
  const fields: Record<string, string> = {}
  for (const [at, segment] of pattern.entries()) {
    const [, name] = /^\{([a-z_]+)\}$/.exec(segment) ?? []
    const value = decodeSegment(given[at] ?? '')
    if (name === undefined ? segment !== given[at] : !value) return undefined
    if (name !== undefined && value) fields[name] = value
  }
  return fields
}

function decodeSegment(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
