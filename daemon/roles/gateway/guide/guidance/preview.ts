// Shows the guidance that a scope would get now, without attaching it, counting it or learning from it.
import * as z from 'zod'
import { type Refusal, refuse } from '../../../../kernel/error/errors.ts'
import { operation } from '../../../../kernel/operation/operation.ts'
import { readerOf } from './attach.ts'
import { refuseUnloaded } from './list-views.ts'
import {
  guidanceBlock,
  guidanceScope,
  intentMatch,
  shownConnection,
  shownSchema,
  shownSpec,
  shownTool,
} from './model.ts'
import { guidancePart } from './parts.ts'
import { matchIntent, showConnections, showSchemas, showSpecs, showTools } from './show.ts'

const input = z.strictObject({
  scope: guidanceScope.optional(),
  intent: z.string().min(1).max(1_024).optional().meta({ description: 'A class of intents, or words of one' }),
  layer: z.literal([1, 3]).optional().meta({ description: 'Instead of scope: 1 for l1, 3 for l3' }),
})

export const preview = operation({
  summary: 'Show the guidance that a scope gets now, for a caller with the rights of this one',
  method: 'GET',
  path: '/api/v1/guide/guidance',
  input,
  output: z
    .strictObject({
      intent_match: intentMatch,
      schemas: z.array(shownSchema),
      tools: z.array(shownTool),
      specs: z.array(shownSpec),
      connections: z.array(shownConnection),
      guide_guidance: guidanceBlock.nullable().meta({ description: 'As it is attached; null: nothing is' }),
    })
    .meta({ id: 'GuidancePreview' }),
  errors: [],
  allow: 'guide:admin',

  async run(call, given) {
    const scope = chooseScope(given)
    if (typeof scope !== 'string') return scope
    const unloaded = refuseUnloaded(call)
    if (unloaded) return unloaded
    const { index } = call.part(guidancePart)
    const { intent } = given
    const anyone = readerOf(call, { scope })
    const match = intent === undefined ? undefined : matchIntent(index.listVisible(anyone, 'IntentPattern'), intent)
    const intent_class = match?.intent_class ?? intent
    const { attached, block } = index.select(readerOf(call, { scope, intent: intent_class }), intent_class)
    return {
      intent_match: match ? { pattern_id: match.pattern_id, score: match.score } : null,
      schemas: showSchemas(attached),
      tools: showTools(attached),
      specs: showSpecs(attached),
      connections: showConnections(attached),
      guide_guidance: block,
    }
  },
})

function chooseScope({ scope, layer }: z.infer<typeof input>): string | Refusal {
  if (layer === undefined) return scope ?? 'l1'
  const ofLayer = `l${layer}`
  if (scope === undefined || scope === ofLayer || scope.startsWith(`${ofLayer}:`)) return scope ?? ofLayer
  const message = `must be of the layer ${layer}, such as ${ofLayer}, or left out`
  return refuse('invalid', 'scope and layer contradict each other', [{ path: 'scope', message }])
}
