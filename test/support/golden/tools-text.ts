// Each tool with its hints and the names of its fields; what the fields are, the OpenAPI documents show.
import type { Tool } from '../../../daemon/kernel/tools.ts'

type Schema = { readonly properties?: object; readonly required?: readonly string[] }

export function toolsText(tools: readonly Tool[]): string {
  return tools.map(textOf).join('\n')
}

function textOf({ name, description, target, annotations, input_schema, output_schema }: Tool): string {
  const hints = Object.entries(annotations).flatMap(([hint, holds]) => (holds ? [hint] : []))
  return [
    `${name} = ${target.address} (${hints.join(', ') || 'no hint'})`,
    `  ${description}`,
    `  takes ${fields(input_schema as Schema)}`,
    `  gives ${output_schema ? fields(output_schema as Schema) : 'text'}`,
    '',
  ].join('\n')
}

function fields({ properties = {}, required = [] }: Schema): string {
  return Object.keys(properties)
    .map((name) => (required.includes(name) ? name : `${name}?`))
    .join(' ')
}
