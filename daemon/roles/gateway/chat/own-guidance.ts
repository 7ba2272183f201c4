// Guidance for the gateway's own model: read as any subscriber reads it, and written as data into its first message.
import { GuidanceCache } from '../../../../packages/guidance-client/src/guidance-cache.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { attachGuidance } from '../guide/guidance/attach.ts'

/** JSON on one line, in which no `<` can end the data; undefined: there is no guidance. */
export function readOwnGuidance(call: Call, ceiling: string | undefined): string | undefined {
  const block = attachGuidance(call, { scope: 'l2', ceiling })
  if (!block) return undefined
  const cache = new GuidanceCache()
  cache.update(block)
  const advice = {
    advice: cache.get_system_prompt_additions(),
    specifications: cache.get_spec_fragments(),
    failures: cache.get_active_failure_patterns().map(({ tool, argument, value, error, advice }) => ({
      ...{ tool, argument, value, error, advice },
    })),
    tools_that_follow: block.artifacts.flatMap(({ type, content: { tool, next_tool, hint } }) =>
      type === 'ToolPairingHint' ? [{ tool, next_tool, hint }] : [],
    ),
    connections: cache.get_service_connection_hints().map(({ from, to, hint }) => ({ from, to, hint })),
    tools: block.artifacts.flatMap(({ type, content }) => (type === 'CapabilityMap' ? [content.tools] : [])).flat(),
  }
  return JSON.stringify(advice).replaceAll('<', '\\u003c')
}
