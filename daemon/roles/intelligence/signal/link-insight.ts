// Links a signal to an insight. The insight owns the link; the signal is updated here at once, or else by the relay.

import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import { isCoveredBy } from '../../../kernel/label/label.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { rationale, uid, uidInput } from '../fields.ts'
import { changeInsight } from '../insight/change-insight.ts'
import { deliverToSignal } from '../insight/deliver-insight-outbox.ts'
import type { StoredInsight } from '../insight/model.ts'
import { linkSignal } from '../insight/rules.ts'
import { attributeAction } from './change-signal.ts'
import { commandParts, commandPaths } from './commands.ts'
import { type StoredSignal, signals } from './model.ts'
import { checkNotMerged } from './rules.ts'
import { commandSystemFields, listStrippedFields } from './system-fields.ts'
import { showSignal } from './view.ts'

/** All links of a signal are in its document. */
const max_links = 100

export const linkInsight = operation({
  ...commandParts,
  ...commandPaths('link'),
  summary:
    'Link a signal to an insight that is not closed; If-Match is the version of the insight, which owns the link',
  tool: 'signal_link_insight',
  input: uidInput.extend({ insight_id: uid, rationale: rationale.optional(), ...commandSystemFields }),
  errors: [...commandParts.errors, 'label_denied'],

  async run(call, input) {
    const { uid: signal_id, insight_id, rationale } = input
    const signal = await call.store(signals).find(signal_id)
    const insight = await changeInsight(call, insight_id, { signal_id }, (current) => {
      if (!signal) return refuse('not_found', 'the signal was not found')
      const { status, metadata } = signal.value
      const linkable = { signal_id, status, steps: metadata.status_history.length }
      return checkMayLink(call, current, signal) ?? linkSignal(current, linkable, attributeAction(call, rationale))
    })
    if (isRefusal(insight)) return insight
    const followed = await followLink(call, insight, signal_id)
    if (isRefusal(followed)) return followed
    return { ...showSignal(call, followed), stripped_fields: listStrippedFields(input, true) }
  },
})

/** The label of an insight covers the labels of all its signals and never changes, so its viewers may see all of them. */
function checkMayLink(call: Call, insight: StoredInsight, { value }: Doc<StoredSignal>): Refusal | undefined {
  const refusal = checkNotMerged(value)
  if (refusal) return refusal
  if (value.links.length >= max_links)
    return refuse('wrong_state', `the signal has ${max_links} linked insights, the maximum`)
  if (isCoveredBy(value.label, insight.label, call.site.labels)) return undefined
  return refuse(
    'label_denied',
    'the label of the insight does not cover the label of the signal: open an insight with a higher classification',
  )
}

/** If-Match applies to the insight only: the relay, which has none, then adds the link to the signal. */
async function followLink(call: Call, insight: Doc<StoredInsight>, signal_id: string) {
  const entry = insight.value.pending.find(
    (each) => each.type === 'follow' && each.signal_id === signal_id && !each.via,
  )
  if (entry?.type !== 'follow' || call.if_match !== undefined) return call.store(signals).get(signal_id)
  return deliverToSignal(call, insight, entry)
}
