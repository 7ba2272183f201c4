// Each tool with its hints and the names of its fields; what the fields are, the OpenAPI documents show.
import type { McpTool } from '../../../daemon/kernel/api/mcp-tools.ts'

type ToolSchema = { readonly properties?: object; readonly required?: readonly string[] }

export function formatTools(tools: readonly McpTool[]): string {
  return tools.map(formatTool).join('\n')
}

function formatTool({ name, description, target, annotations, input_schema, output_schema }: McpTool): string {
  const hints = Object.entries(annotations).flatMap(([hint, holds]) => (holds ? [hint] : []))
  const { surface } = target.operation
  const surfaces = surface ? [`on ${surface} alone`] : []
  return [
    `${name} = ${target.address} (${[...hints, ...surfaces].join(', ') || 'no hint'})`,
    `  ${description}`,
    `  takes ${formatFields(input_schema as ToolSchema)}`,
    `  gives ${output_schema ? formatFields(output_schema as ToolSchema) : 'text'}`,
    '',
  ].join('\n')
}

function formatFields({ properties = {}, required = [] }: ToolSchema): string {
  return Object.keys(properties)
    .map((name) => (required.includes(name) ? name : `${name}?`))
    .join(' ')
}
