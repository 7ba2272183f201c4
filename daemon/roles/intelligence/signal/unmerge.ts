// Undoes the merge of a signal.
import { isRefusal, refuse } from '../../../kernel/error/errors.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { rationale, uidInput } from '../fields.ts'
import { deliverMerges } from '../merge/deliver-merges.ts'
import { beginUnmerge } from '../merge/rules.ts'
import { attributeAction, changeSignal } from './change-signal.ts'
import { commandParts, commandPaths } from './commands.ts'
import { signals } from './model.ts'
import { commandSystemFields, listStrippedFields } from './system-fields.ts'
import { showSignal } from './view.ts'

export const unmerge = operation({
  ...commandParts,
  ...commandPaths('unmerge'),
  summary: 'Undo the merge of a signal; If-Match is the version of the surviving signal, which owns the merge',
  tool: 'signal_unmerge',
  input: uidInput.extend({ rationale, ...commandSystemFields }),
  errors: [...commandParts.errors, 'label_denied'],

  async run(call, input) {
    const { uid, rationale } = input
    const signal = await call.store(signals).find(uid)
    // Throws the reason why the signal cannot be read.
    const { value } = signal ?? (await call.store(signals).update(uid, () => ({ answer: undefined }))).doc
    if (!value.merge) return refuse('wrong_state', 'the signal is not merged')
    const survivor = await call.store(signals).find(value.merge.into)
    if (!survivor) return refuse('label_denied', 'the label of the surviving signal is above your clearance')
    const rule: Parameters<typeof changeSignal>[2] = (current) =>
      beginUnmerge(current, uid, { ...attributeAction(call), rationale })
    const change = await changeSignal(call, survivor.id, rule, call.address, { signal: uid })
    if (isRefusal(change)) return change
    if (call.if_match === undefined) await deliverMerges(call, change)
    return { ...showSignal(call, await call.store(signals).get(uid)), stripped_fields: listStrippedFields(input, true) }
  },
})
