// MCP tools, derived from operations: the tool and its REST twin are one definition, so they cannot drift.
import * as z from 'zod'
import type { Addressed } from './operation.ts'

export type Tool = {
  readonly name: string
  readonly description: string
  readonly input_schema: unknown
  readonly read_only: boolean
  readonly target: Addressed
}

export function toolsOf(operations: readonly Addressed[]): Tool[] {
  return operations.flatMap((target) => {
    const { tool, summary, input, method } = target.operation
    if (!tool) return []
    return [
      {
        name: tool,
        description: summary,
        input_schema: z.toJSONSchema(input, { io: 'input' }),
        read_only: method === 'GET',
        target,
      },
    ]
  })
}
