// MCP tools, derived from operations: one definition serves the tool and its REST endpoint.
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

/** Effects of the tool, under the names of the MCP protocol. */
export type McpToolAnnotations = {
  readonly readOnlyHint: boolean
  /** True where the tool changes or removes existing data instead of only adding to it. */
  readonly destructiveHint: boolean
  readonly idempotentHint: boolean
  readonly openWorldHint: false
}

/** The only path of a role that serves MCP. */
export const toolsPath = '/agentspace'

/** Deployment profiles that offer tools (profile A). */
const toolProfiles: ReadonlySet<DeploymentProfile> = new Set(['single_cluster', 'multi_tenant_cloud'])

export function offersTools(profile: DeploymentProfile): boolean {
  return toolProfiles.has(profile)
}

/** The operations offered as tools under this deployment profile: none in profiles B, C and D. */
export function toolOperationsForProfile(
  profile: DeploymentProfile,
  operations: readonly AddressedOperation[],
): readonly AddressedOperation[] {
  return offersTools(profile) ? operations.filter(({ operation }) => operation.tool !== undefined) : []
}

/** Counts of tools and resources, for service-info. */
export function toolServiceInfo(
  operations: readonly AddressedOperation[],
  resources: number,
): Readonly<Record<string, unknown>> {
  const path = operations.length > 0 ? { mcp_path: toolsPath } : {}
  return { ...path, tools_count: operations.length, resources_count: resources }
}

/** Derives the tools of a role, in the order of declaration. */
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

/**
 * The JSON Schema of a value. Clients pass it whole to language models, so a pattern is omitted where a format
 * implies it.
 */
function schemaOf(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  return inlineRootSchema(
    z.toJSONSchema(schema, {
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
  const { [name]: rootSchema, ...others } = $defs ?? {}
  if (!rootSchema) return schema
  const isRecursive = JSON.stringify($defs).includes(`"${$ref}"`)
  return { ...own, ...rootSchema, $defs: isRecursive ? { ...others, [name]: rootSchema } : others }
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
