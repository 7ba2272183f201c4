// Guidance for the gateway's own model: read as any subscriber reads it, and written as data into its first message.
import { GuidanceCache } from '../../../../packages/guidance-client/src/guidance-cache.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { attachGuidance } from '../guide/guidance/attach.ts'

/** JSON on one line, in which no `<` can end the data; undefined: there is no guidance. */
export function readOwnGuidance(call: Call, ceiling: string | undefined, intent: string): string | undefined {
  const block = attachGuidance(call, { scope: 'l2', ceiling, intent })
  if (!block) return undefined
  const cache = new GuidanceCache()
  cache.update(block)
  const context = { intent_class: intent }
  const ofIntent = block.artifacts.filter(({ applicability: { intent_class = intent } }) => intent_class === intent)
  const advice = {
    advice: cache.get_system_prompt_additions(context),
    specifications: cache.get_spec_fragments(context),
    patterns: ofIntent.flatMap(({ type, content: { intent_class, operations } }) =>
      type === 'IntentPattern' ? [{ intent_class, operations }] : [],
    ),
    exemplars: ofIntent.flatMap(({ type, content: { intent_class, steps, support, success_rate } }) =>
      type === 'DecisionTrajectory' ? [{ intent_class, steps, support, success_rate }] : [],
    ),
    failures: cache.get_active_failure_patterns(context).map(({ tool, argument, value, error, advice }) => ({
      ...{ tool, argument, value, error, advice },
    })),
    tools_that_follow: block.artifacts.flatMap(({ type, content: { tool, next_tool, hint } }) =>
      type === 'ToolPairingHint' ? [{ tool, next_tool, hint }] : [],
    ),
    connections: cache.get_service_connection_hints(context).map(({ from, to, hint }) => ({ from, to, hint })),
    tools: block.artifacts.flatMap(({ type, content }) => (type === 'CapabilityMap' ? [content.tools] : [])).flat(),
  }
  return JSON.stringify(advice).replaceAll('<', '\\u003c')
}
