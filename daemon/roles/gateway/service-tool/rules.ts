// The tools and resources of a service that may be offered: those whose definition is the accepted one, digest by digest.
import { canonicalDigest } from '../../../kernel/encoding/canonical-json.ts'
import type { RemoteResource, ResourceDefinition } from '../../../kernel/tools/remote-resource.ts'
import type { RemoteTool, ToolDefinition } from '../../../kernel/tools/tool-service.ts'
import type { AcceptedTool } from './model.ts'

/** A tool or a resource as its service lists it now. */
export type ListedTool = {
  /** Of a resource, its URI. */
  readonly name: string
  readonly definition: ServiceDefinition
  readonly sha256: string
}

export type ServiceDefinition = ToolDefinition | ResourceDefinition

export function isResource(definition: ServiceDefinition): definition is ResourceDefinition {
  return 'kind' in definition
}

export const definitionKinds = ['tool', 'resource', 'template'] as const

export function kindOf(definition: ServiceDefinition): (typeof definitionKinds)[number] {
  return isResource(definition) ? definition.kind : 'tool'
}

/** The digest covers all that a model reads of the resource, its URI included. */
export function readListedResource({ uri, ...definition }: RemoteResource): ListedTool {
  return { name: uri, definition, sha256: canonicalDigest({ uri, ...definition }) }
}

/** The digest covers all that a model reads of the tool, its name included. */
export function readListedTool({ name, ...rest }: RemoteTool): ListedTool {
  const definition = pickDefinition(rest)
  return { name, definition, sha256: canonicalDigest({ name, ...definition }) }
}

function pickDefinition({ title, description, input_schema, output_schema, annotations }: ToolDefinition) {
  return {
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    input_schema,
    ...(output_schema === undefined ? {} : { output_schema }),
    ...(annotations === undefined ? {} : { annotations }),
  }
}

/** What a list says of accepted tools. */
export type ListComparison = {
  /** Names of those that are listed as accepted. */
  readonly same: ReadonlySet<string>
  /** Those that are listed with another definition, and its digest: to be held from now on. */
  readonly changed: readonly (readonly [AcceptedTool, string])[]
}

/** Tools that are held already stay so, also where the list is again what was accepted: what changes back may change once more. */
export function compareList(accepted: readonly AcceptedTool[], listed: readonly ListedTool[]): ListComparison {
  const digests = new Map(listed.map(({ name, sha256 }) => [name, sha256]))
  const free = accepted.filter(({ held }) => held === undefined)
  return {
    same: new Set(free.filter(({ name, sha256 }) => digests.get(name) === sha256).map(({ name }) => name)),
    changed: free.flatMap((tool) => {
      const digest = digests.get(tool.name)
      return digest === undefined || digest === tool.sha256 ? [] : [[tool, digest] as const]
    }),
  }
}
