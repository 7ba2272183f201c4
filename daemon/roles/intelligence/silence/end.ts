// Ends a silence before its time.
import { isRefused, type Refused } from '../../../kernel/errors.ts'
import { operation } from '../../../kernel/operation.ts'
import { rationale, uidInput } from '../fields.ts'
import { deedOf } from '../signal/change.ts'
import { silence, silences } from './model.ts'
import { silencePaths } from './paths.ts'
import { ended } from './rules.ts'
import { absent, maySee, shownOne } from './view.ts'

export const end = operation({
  ...silencePaths('/{uid}/end'),
  summary: 'End a silence before its time; what came under it stays marked',
  method: 'POST',
  tool: 'signal_silence_end',
  input: uidInput.extend({ rationale: rationale.optional() }),
  output: silence,
  errors: ['not_found', 'not_your_tenant', 'wrong_state', 'precondition_failed'],
  allow: 'intelligence:silence',
  versioned: true,

  async run(call, { uid, rationale: why }) {
    const { doc, answer } = await call.store(silences).update<Refused | undefined>(uid, ({ value }) => {
      const next = maySee(call, value) ? ended(value, deedOf(call, why), call.now()) : absent()
      if (isRefused(next)) return { answer: next }
      const event = call.audited(call.address, uid, { owner: value.owner }, value.silence_label)
      return { next, answer: undefined, audit: [event] }
    })
    return isRefused(answer) ? answer : await shownOne(call, doc)
  },
})
