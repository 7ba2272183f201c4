// Merges duplicates into one signal, the survivor. Each merge can be undone.
import * as z from 'zod'
import { isRefusal, refuse } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { rationale, uid, uidInput } from '../fields.ts'
import { deliverMerges, type MergeFailure } from '../merge/deliver-merges.ts'
import { beginMerge, max_merged } from '../merge/rules.ts'
import { attributeAction, changeSignal } from './change-signal.ts'
import { commandParts, commandPaths } from './commands.ts'
import { type InsightLink, signals } from './model.ts'
import { changedSignal, commandSystemFields, listStrippedFields } from './system-fields.ts'
import { showSignal } from './view.ts'

export const merge = operation({
  ...commandParts,
  ...commandPaths('merge'),
  summary: 'Merge duplicates into this signal, which represents them from then on; unmerge undoes it',
  tool: 'signal_merge',
  input: uidInput.extend({ signal_ids: z.array(uid).min(1).max(max_merged), rationale, ...commandSystemFields }),
  output: changedSignal
    .extend({
      left_out: z
        .array(z.strictObject({ signal_id: uid, reason: z.string() }))
        .optional()
        .meta({ description: 'Signals not merged, because they changed at the same time' }),
    })
    .meta({ id: 'MergedSignal' }),
  errors: [...commandParts.errors, 'label_denied'],

  async run(call, input) {
    const { uid: survivor_id, rationale } = input
    const key = call.random(8)
    const ids = [...new Set(input.signal_ids)]
    const loadedSignals = await Promise.all(ids.map(async (id) => [id, await call.store(signals).find(id)] as const))
    const candidates = loadedSignals.flatMap(([signal_id, doc]) => (doc ? [{ signal_id, value: doc.value }] : []))
    const inheritedLinks = await loadInheritedLinks(call, survivor_id)
    const missing = loadedSignals.find(([, doc]) => !doc)?.[0]
    const rule: Parameters<typeof changeSignal>[2] = (current) => {
      if (missing !== undefined) return refuse('not_found', `signal ${missing} was not found`)
      if (ids.includes(survivor_id))
        return refuse('wrong_state', 'a signal cannot be merged into itself: remove it from signal_ids')
      const setting = { into: survivor_id, brought: inheritedLinks, viewer: call.caller, policy: call.site.labels }
      return beginMerge(current, candidates, { ...attributeAction(call), rationale, key }, setting)
    }
    const change = await changeSignal(call, survivor_id, rule, call.address, { signals: ids })
    if (isRefusal(change)) return change
    // If-Match applies to the survivor only: the relay, which has none, updates the others.
    const left_out: MergeFailure[] = call.if_match === undefined ? await deliverMerges(call, change) : []
    const now = call.if_match === undefined ? await call.store(signals).get(survivor_id) : change
    const view = { ...showSignal(call, now), stripped_fields: listStrippedFields(input, true) }
    return left_out.length ? { ...view, left_out } : view
  },
})

/** Links of signals merged earlier: the survivor may not have all of them yet. */
async function loadInheritedLinks(call: Call, survivor_id: string): Promise<InsightLink[]> {
  const survivor = await call.store(signals).find(survivor_id)
  const under = (survivor?.value.taken_in ?? []).map(({ signal_id }) => call.store(signals).find(signal_id))
  return (await Promise.all(under)).flatMap((doc) => doc?.value.links ?? [])
}
