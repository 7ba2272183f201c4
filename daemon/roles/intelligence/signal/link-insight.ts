// Links a signal to an insight. The insight owns the link; the signal follows, here at once or else by the relay.
import type { Call } from '../../../kernel/call.ts'
import { isRefused, type Refused, refuse } from '../../../kernel/errors.ts'
import { isHeldBy } from '../../../kernel/label.ts'
import { operation } from '../../../kernel/operation.ts'
import type { Doc } from '../../../kernel/store.ts'
import { rationale, uid, uidInput } from '../fields.ts'
import { changeInsight } from '../insight/change.ts'
import type { StoredInsight } from '../insight/model.ts'
import { link } from '../insight/rules.ts'
import { paySignal } from '../insight/settle.ts'
import { deedOf } from './change.ts'
import { commandParts, commandPaths } from './commands.ts'
import { type StoredSignal, signals } from './model.ts'
import { mergedAway } from './rules.ts'
import { commandSystemFields, strippedOf } from './system-fields.ts'
import { shown } from './view.ts'

/** What a signal tells of all its links is in its document. */
const most_links = 100

export const linkInsight = operation({
  ...commandParts,
  ...commandPaths('link'),
  summary: 'Link a signal to an insight that is not closed; If-Match speaks of the insight, which owns the link',
  tool: 'signal_link_insight',
  input: uidInput.extend({ insight_id: uid, rationale: rationale.optional(), ...commandSystemFields }),
  errors: [...commandParts.errors, 'label_denied'],

  async run(call, given) {
    const { uid: signal_id, insight_id, rationale: why } = given
    const signal = await call.store(signals).find(signal_id)
    const insight = await changeInsight(call, insight_id, { signal_id }, (current) => {
      if (!signal) return refuse('not_found', 'there is no such signal')
      const { status, metadata } = signal.value
      const linkable = { signal_id, status, steps: metadata.status_history.length }
      return mayLink(call, current, signal) ?? link(current, linkable, deedOf(call, why))
    })
    if (isRefused(insight)) return insight
    const followed = await follow(call, insight, signal_id)
    if (isRefused(followed)) return followed
    return { ...shown(call, followed), stripped_fields: strippedOf(given, true) }
  },
})

/** The label of an insight holds those of all its signals from the first, so that who sees it may see them, and it never changes. */
function mayLink(call: Call, insight: StoredInsight, { value }: Doc<StoredSignal>): Refused | undefined {
  const refused = mergedAway(value)
  if (refused) return refused
  if (value.links.length >= most_links) return refuse('wrong_state', `the signal is linked to ${most_links} insights`)
  if (isHeldBy(value.label, insight.label, call.site.labels)) return undefined
  return refuse('label_denied', 'the label of the insight does not hold that of the signal: open one that does')
}

/** If-Match was meant for the insight: the relay, which has none, then brings the link to the signal. */
async function follow(call: Call, insight: Doc<StoredInsight>, signal_id: string) {
  const debt = insight.value.pending.find((each) => each.type === 'follow' && each.signal_id === signal_id && !each.via)
  if (debt?.type !== 'follow' || call.if_match !== undefined) return call.store(signals).get(signal_id)
  return paySignal(call, insight, debt)
}
