// Which tools of a service may be offered: those whose definition is the accepted one, digest by digest.
import { canonicalDigest } from '../../../kernel/encoding/canonical-json.ts'
import type { RemoteTool, ToolDefinition } from '../../../kernel/tools/tool-service.ts'
import type { AcceptedTool } from './model.ts'

/** A tool as its service lists it now. */
export type ListedTool = {
  readonly name: string
  readonly definition: ToolDefinition
  readonly sha256: string
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
