// MCP resources: documents that AI clients read by URI. An operation of the role supplies each document.

import { type AddressedOperation, type AnyOperation, isServedBy } from '../operation/operation.ts'
import { offersTools, type ToolOffer } from './mcp-tools.ts'

export type McpResourceDeclaration = {
  /** URI template such as `fusion://runs/{run_id}`. Each name in braces is a field of the operation's input, or of `fields`. */
  readonly uri: string
  /** Fields of the input by their names in the URI, where these differ. */
  readonly fields?: Readonly<Record<string, string>>
  readonly name: string
  readonly description: string
  /** A GET operation. */
  readonly operation: AnyOperation
  /** Fixed input fields, besides those of the URI. */
  readonly input?: Readonly<Record<string, unknown>>
}

export type McpResource = Omit<McpResourceDeclaration, 'operation'> & { readonly target: AddressedOperation }

/** The resources that a role offers; none where it offers no tools. */
export function offeredResources(
  offer: ToolOffer,
  declared: readonly McpResourceDeclaration[],
  operations: readonly AddressedOperation[],
): readonly McpResource[] {
  if (!offersTools(offer)) return []
  return declared.map(({ operation, ...resource }) => {
    const target = operations.find((each) => each.operation === operation)
    if (!target) throw new TypeError(`${resource.uri} names an operation of another role`)
    if (!isServedBy(operation, 'agentspace'))
      throw new TypeError(`${resource.uri} names an operation of another surface`)
    return { ...resource, target }
  })
}

/** Whether the URI of the resource has fields to fill in. */
export function isTemplate({ uri }: McpResource): boolean {
  return uri.includes('{')
}

/** The resource at a URI, with the input that the URI carries; undefined when there is none. */
export function findResource(resources: readonly McpResource[], uri: string) {
  for (const resource of resources) {
    const found = matchUri(resource.uri, uri)
    if (found) return { resource, input: { ...resource.input, ...renameFields(found, resource.fields) } }
  }
  return undefined
}

function renameFields(found: Readonly<Record<string, string>>, names: Readonly<Record<string, string>> = {}) {
  return Object.fromEntries(Object.entries(found).map(([name, value]) => [names[name] ?? name, value]))
}

/** Matches a URI against a template. A field of the template matches exactly one segment. */
function matchUri(template: string, uri: string): Record<string, string> | undefined {
  const [pattern, segments] = [template.split('/'), uri.split('/')]
  if (pattern.length !== segments.length) return undefined
  const fields: Record<string, string> = {}
  for (const [index, segment] of pattern.entries()) {
    const [, name] = /^\{([a-z_]+)\}$/.exec(segment) ?? []
    const value = decodeSegment(segments[index] ?? '')
    if (name === undefined ? segment !== segments[index] : !value) return undefined
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
