// Merges duplicates into one signal, which then stands for all of them. Each can be taken out again as it was.
import * as z from 'zod'
import type { Call } from '../../../kernel/call.ts'
import { isRefused, refuse } from '../../../kernel/errors.ts'
import { operation } from '../../../kernel/operation.ts'
import { rationale, uid, uidInput } from '../fields.ts'
import { most_taken, taking } from '../merge/rules.ts'
import { type LeftOut, settleMerges } from '../merge/settle.ts'
import { changeSignal, deedOf } from './change.ts'
import { commandParts, commandPaths } from './commands.ts'
import { type Link, signals } from './model.ts'
import { changedSignal, commandSystemFields, strippedOf } from './system-fields.ts'
import { shown } from './view.ts'

export const merge = operation({
  ...commandParts,
  ...commandPaths('merge'),
  summary: 'Merge duplicates into this signal, which stands for them from then on; unmerge takes one out as it was',
  tool: 'signal_merge',
  input: uidInput.extend({ signal_ids: z.array(uid).min(1).max(most_taken), rationale, ...commandSystemFields }),
  output: changedSignal
    .extend({
      left_out: z
        .array(z.strictObject({ signal_id: uid, reason: z.string() }))
        .optional()
        .meta({ description: 'Those that somebody changed at the same moment' }),
    })
    .meta({ id: 'MergedSignal' }),
  errors: [...commandParts.errors, 'label_denied'],

  async run(call, given) {
    const { uid: survivor_id, rationale: why } = given
    const key = call.random(8)
    const ids = [...new Set(given.signal_ids)]
    const found = await Promise.all(ids.map(async (id) => [id, await call.store(signals).find(id)] as const))
    const candidates = found.flatMap(([signal_id, doc]) => (doc ? [{ signal_id, value: doc.value }] : []))
    const brought = await linksUnder(call, survivor_id)
    const missing = found.find(([, doc]) => !doc)?.[0]
    const rule: Parameters<typeof changeSignal>[2] = (current) => {
      if (missing !== undefined) return refuse('not_found', `there is no signal ${missing}`)
      if (ids.includes(survivor_id)) return refuse('wrong_state', 'a signal is not merged into itself')
      const setting = { into: survivor_id, brought, viewer: call.caller, policy: call.site.labels }
      return taking(current, candidates, { ...deedOf(call), rationale: why, key }, setting)
    }
    const done = await changeSignal(call, survivor_id, rule, call.address, { signals: ids })
    if (isRefused(done)) return done
    // If-Match was meant for the survivor: the relay, which has none, then tells the others.
    const left_out: LeftOut[] = call.if_match === undefined ? await settleMerges(call, done) : []
    const now = call.if_match === undefined ? await call.store(signals).get(survivor_id) : done
    const said = { ...shown(call, now), stripped_fields: strippedOf(given, true) }
    return left_out.length ? { ...said, left_out } : said
  },
})

/** Links of signals that it stands for already: the survivor may not have been told of each yet. */
async function linksUnder(call: Call, survivor_id: string): Promise<Link[]> {
  const survivor = await call.store(signals).find(survivor_id)
  const under = (survivor?.value.taken_in ?? []).map(({ signal_id }) => call.store(signals).find(signal_id))
  return (await Promise.all(under)).flatMap((doc) => doc?.value.links ?? [])
}
