// MCP tools, derived from operations: the tool and its REST twin are one definition, so they cannot drift.
import * as z from 'zod'
import { type AddressedOperation, type AnyOperation, hasBody } from '../operation/operation.ts'
import type { DeploymentProfile } from '../role/site.ts'

export type McpTool = {
  readonly name: string
  readonly description: string
  readonly input_schema: unknown
  /** Absent where the answer is not an object. */
  readonly output_schema?: unknown
  readonly annotations: McpToolAnnotations
  readonly target: AddressedOperation
}

/** Effects of the tool, by the names of the protocol. */
export type McpToolAnnotations = {
  readonly readOnlyHint: boolean
  /** It changes or ends what is there, rather than adding to it. */
  readonly destructiveHint: boolean
  readonly idempotentHint: boolean
  readonly openWorldHint: false
}

/** Where all tools of a role are; no other path of it speaks MCP. */
export const toolsPath = '/agentspace'

/** Profile A. */
const toolProfiles: ReadonlySet<DeploymentProfile> = new Set(['single_cluster', 'multi_tenant_cloud'])

export function offersTools(profile: DeploymentProfile): boolean {
  return toolProfiles.has(profile)
}

/** The operations that are tools where the site stands so: none in profiles B, C and D. */
export function toolOperationsForProfile(
  profile: DeploymentProfile,
  operations: readonly AddressedOperation[],
): readonly AddressedOperation[] {
  return offersTools(profile) ? operations.filter(({ operation }) => operation.tool !== undefined) : []
}

/** Counts of tools and resources, for service-info. */
export function toolServiceInfo(
  offered: readonly AddressedOperation[],
  resources: number,
): Readonly<Record<string, unknown>> {
  const path = offered.length > 0 ? { mcp_path: toolsPath } : {}
  return { ...path, tools_count: offered.length, resources_count: resources }
}

/** In the order of declaration. */
export function deriveTools(operations: readonly AddressedOperation[]): McpTool[] {
  return operations.flatMap((target) => {
    const { tool, summary, input, output } = target.operation
    if (!tool) return []
    const output_schema = schemaOf(output, 'output')
    return [
      {
        name: tool,
        description: summary,
        input_schema: schemaOf(input, 'input'),
        ...(output_schema.type === 'object' ? { output_schema } : {}),
        annotations: annotationsOf(target.operation),
        target,
      },
    ]
  })
}

type JsonSchema = { readonly type?: unknown; readonly $ref?: string; readonly $defs?: Readonly<Record<string, object>> }

/** Clients pass it to language models whole: a pattern is left out where a format implies it. */
function schemaOf(of: z.ZodType, io: 'input' | 'output'): JsonSchema {
  return inlineRootSchema(
    z.toJSONSchema(of, {
      io,
      unrepresentable: 'any',
      override: ({ jsonSchema }) => {
        if (jsonSchema.format !== undefined) delete jsonSchema.pattern
      },
    }) as JsonSchema,
  )
}

/** Replaces a root `$ref` by its schema: clients require that the root says `type: object`. */
function inlineRootSchema(schema: JsonSchema): JsonSchema {
  const { $ref, $defs, ...own } = schema
  const name = $ref?.replace('#/$defs/', '') ?? ''
  const { [name]: named, ...others } = $defs ?? {}
  if (!named) return schema
  const isRecursive = JSON.stringify($defs).includes(`"${$ref}"`)
  return { ...own, ...named, $defs: isRecursive ? { ...others, [name]: named } : others }
}

function annotationsOf({ method, creates = false }: AnyOperation): McpToolAnnotations {
  const readOnlyHint = method === 'GET'
  return {
    readOnlyHint,
    destructiveHint: !readOnlyHint && !creates,
    idempotentHint: readOnlyHint || !hasBody(method) || method === 'PUT',
    openWorldHint: false,
  }
}
