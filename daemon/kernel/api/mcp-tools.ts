// MCP tools, derived from operations: one definition serves the tool and its REST endpoint.
import * as z from 'zod'
import {
  type AddressedOperation,
  type AnyOperation,
  hasBody,
  isReadOperation,
  isServedBy,
  type SurfaceName,
} from '../operation/operation.ts'
import type { RoleDeployment, RoleOutline } from '../role/role.ts'
import type { ResolvedSettings } from '../settings/settings.ts'
import type { ToolDefinition, UntrustedObject } from '../tools/tool-service.ts'

export type McpTool = {
  readonly name: string
  readonly title?: string
  readonly description: string
  readonly input_schema: unknown
  /** Absent where the answer is not an object. */
  readonly output_schema?: unknown
  /** Those of another service are its own words. */
  readonly annotations: McpToolAnnotations | UntrustedObject
  readonly target: AddressedOperation
}

/** Effects of the tool, under the names of the MCP protocol. */
type McpToolAnnotations = {
  readonly readOnlyHint: boolean
  /** True where the tool changes or removes existing data instead of only adding to it. */
  readonly destructiveHint: boolean
  readonly idempotentHint: boolean
  readonly openWorldHint: false
}

/** The only path of a role that serves MCP. */
export const toolsPath = '/agentspace'

/** The topic on which a role announces that its tools have changed while it runs. */
export function toolsTopic(role: string): string {
  return `tools of ${role}`
}

/** The routes of `toolsPath`, which take a token, and that of its metadata, which takes none. */
export type ToolRoute = 'message' | 'stream' | 'end' | 'metadata'

export function toolRouteAddress(role: string, route: ToolRoute): string {
  return `${role}.agentspace.${route}`
}

/** The addresses of the tools that a role offers, and of the routes that take their calls; none without tools. */
export function listToolAddresses(role: string, tools: readonly AddressedOperation[]): ReadonlySet<string> {
  if (tools.length === 0) return new Set()
  const routes = (['message', 'stream', 'end'] as const).map((route) => toolRouteAddress(role, route))
  return new Set([...routes, ...tools.map(({ address }) => address)])
}

/** Whether the section of settings that has the name of the role lets an operator offer its tools. */
export function hasToolFields({ name, settings }: Pick<RoleOutline, 'name' | 'settings'>): boolean {
  return 'mcp_enabled' in (settings.find((block) => block.name === name)?.shape ?? {})
}

/** A role as far as its tools are concerned, and where it is deployed. */
export type ToolOffer = {
  readonly role: Pick<RoleOutline, 'name' | 'tool_profiles'>
  readonly deployment: Pick<RoleDeployment, 'deployment_profile'> & {
    readonly settings: Pick<ResolvedSettings, 'values'>
  }
}

/** Whether AI clients reach the role: by its setting (default: everywhere but in profile D), in its profiles alone. */
export function offersTools({ role, deployment }: ToolOffer): boolean {
  const { deployment_profile } = deployment
  const isEnabled = toolSetting({ role, deployment }) ?? deployment_profile !== 'classified_airgapped'
  return isEnabled && isToolProfile({ role, deployment })
}

/** Whether the settings enable the tools of a role that never offers any in this deployment profile. */
export function isToolSettingIgnored(offer: ToolOffer): boolean {
  return toolSetting(offer) === true && !isToolProfile(offer)
}

function isToolProfile({ role, deployment }: ToolOffer): boolean {
  return role.tool_profiles?.includes(deployment.deployment_profile) ?? true
}

function toolSetting({ role, deployment }: ToolOffer): boolean | undefined {
  const { mcp_enabled } = deployment.settings.values.get(role.name) ?? {}
  return typeof mcp_enabled === 'boolean' ? mcp_enabled : undefined
}

/** The operations that AI clients may call as tools; none where the role offers no tools. */
export function offeredTools(
  offer: ToolOffer,
  operations: readonly AddressedOperation[],
): readonly AddressedOperation[] {
  return offersTools(offer) ? toolOperations('agentspace', operations) : []
}

/** The operations that a surface offers as tools, in the order of declaration. */
export function toolOperations(
  surface: SurfaceName,
  operations: readonly AddressedOperation[],
): readonly AddressedOperation[] {
  return operations.filter(({ operation }) => operation.tool !== undefined && isServedBy(operation, surface))
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
    const { tool, tool_definition, summary, input, output } = target.operation
    if (!tool) return []
    if (tool_definition) return [adoptDefinition(tool, tool_definition, target)]
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

/** Of a tool that another service offers: as that service describes it. */
function adoptDefinition(
  name: string,
  { title, description = '', input_schema, output_schema, annotations = {} }: ToolDefinition,
  target: AddressedOperation,
): McpTool {
  return {
    ...{ name, description, input_schema, annotations, target },
    ...(title === undefined ? {} : { title }),
    ...(output_schema === undefined ? {} : { output_schema }),
  }
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

function annotationsOf(operation: AnyOperation): McpToolAnnotations {
  const { method, creates = false } = operation
  const readOnlyHint = isReadOperation(operation)
  return {
    readOnlyHint,
    destructiveHint: !readOnlyHint && !creates,
    idempotentHint: readOnlyHint || !hasBody(method) || method === 'PUT',
    openWorldHint: false,
  }
}
