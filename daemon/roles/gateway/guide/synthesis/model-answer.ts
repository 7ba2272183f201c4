// The answer of the layer's model to a synthesis, as far as it is used: every text is bounded, and every list is short.
import * as z from 'zod'

/** Of each list: an answer with more is refused as a whole. */
export const max_changes = 4

const name = z.string().min(1).max(256)
const names = z.array(name).min(1).max(16)
const sentence = z.string().min(1).max(240)
const prose = z.string().min(1).max(480)

/**
 * Contents without figures and ranks, which are the gateway's to give. The other types are records of the layer itself, or hold
 * a structure of any form.
 */
const contents = {
  FailurePattern: z.strictObject({
    tool: name,
    argument: name.optional(),
    value: z.string().max(64).optional(),
    error: z.string().max(200),
    advice: sentence,
  }),
  ToolPairingHint: z.strictObject({ tool: name, next_tool: name, hint: sentence }),
  ServiceConnectionHint: z.strictObject({ from: name, to: name, hint: sentence }),
  IntentPattern: z.strictObject({
    intent_class: name,
    words: z.array(z.string().min(1).max(24)).max(16),
    operations: names,
  }),
  PromptShim: z.strictObject({ body: prose }),
  SpecFragment: z.strictObject({ spec_id: name, body: prose }),
  CapabilityMap: z.strictObject({
    service: name,
    tools: z
      .array(z.strictObject({ name, routing_hint: sentence }))
      .min(1)
      .max(8),
  }),
} as const

const proposalOf = <T extends keyof typeof contents>(type: T) =>
  z.object({ type: z.literal(type), content: contents[type], intent_class: name.optional(), rationale: sentence })

/** Calls that belong together, as one artifact in place of the observations of many traces. */
const compaction = z.object({ intent_class: name, steps: names, rationale: sentence })

const artifact_id = z.string().min(1).max(128)
const namedChange = z.object({ artifact_id, rationale: sentence })

/** One entry of each list. An entry that is not of its schema is left out, and the others are used. */
export const answerEntries = {
  proposals: z.discriminatedUnion('type', [
    proposalOf('FailurePattern'),
    proposalOf('ToolPairingHint'),
    proposalOf('ServiceConnectionHint'),
    proposalOf('IntentPattern'),
    proposalOf('PromptShim'),
    proposalOf('SpecFragment'),
    proposalOf('CapabilityMap'),
  ]),
  edits: namedChange.extend({
    tags: z.array(z.string().min(1).max(64)).max(8).optional(),
    intent_class: name.optional(),
  }),
  promotions: namedChange,
  demotions: namedChange,
  reviews: namedChange.extend({ verdict: z.enum(['keep', 'demote']) }),
  drift_flags: z.object({ source: name, target: name, rationale: sentence }),
  compactions: compaction,
} as const

export type AnswerList = keyof typeof answerEntries
export type AnswerEntry<L extends AnswerList> = z.infer<(typeof answerEntries)[L]>
export type SynthesisProposal = AnswerEntry<'proposals'>
export const answerLists = Object.keys(answerEntries) as readonly AnswerList[]

/** What the data of a prompt offers: a list that could only hold what the gateway refuses is not requested. */
export type AnswerScope = {
  readonly artifact_ids: readonly string[]
  readonly hasFlagged: boolean
  readonly hasCalls: boolean
  readonly hasEdges: boolean
}

/** Fewer than may be answered: a small model fills what it is given. */
const max_requested = 2

/** The JSON Schema of an answer, for endpoints that can be held to one. A list may be missing: that is shorter than an empty one. */
export function describeAnswer({ artifact_ids, hasFlagged, hasCalls, hasEdges }: AnswerScope) {
  const { proposals, edits, promotions, demotions, reviews, drift_flags, compactions } = answerEntries
  const [first, ...others] = artifact_ids
  const known = { artifact_id: z.enum([first ?? '', ...others]) }
  const texts = z.discriminatedUnion('type', [proposalOf('PromptShim'), proposalOf('SpecFragment')])
  const lists: Partial<Record<AnswerList, z.ZodType>> = {
    proposals: hasCalls ? proposals : texts,
    ...(hasCalls ? { compactions } : {}),
    ...(hasEdges ? { drift_flags } : {}),
    ...(hasFlagged ? { reviews: reviews.extend(known) } : {}),
    ...(first === undefined
      ? {}
      : { edits: edits.extend(known), promotions: promotions.extend(known), demotions: demotions.extend(known) }),
  }
  const bounded = Object.entries(lists).map(
    ([list, entry]) => [list, z.array(entry).max(max_requested).optional()] as const,
  )
  const answer = z.object({ confidence: z.number().min(0).max(1), reply: prose, ...Object.fromEntries(bounded) })
  return { name: 'synthesis', schema: z.toJSONSchema(answer, { reused: 'inline', target: 'draft-7' }) }
}
