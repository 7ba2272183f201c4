// Ends a silence early.
import { isRefusal, type Refusal } from '../../../kernel/error/errors.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { rationale, uidInput } from '../fields.ts'
import { objectPaths } from '../object-paths.ts'
import { attributeAction } from '../signal/change-signal.ts'
import { silence, silences } from './model.ts'
import { endSilence } from './rules.ts'
import { maySee, refuseUnknownSilence, showSilence } from './view.ts'

export const end = operation({
  ...objectPaths('signal-silence', '/{uid}/end'),
  summary: 'End a silence early; signals that it silenced keep their mark',
  method: 'POST',
  tool: 'signal_silence_end',
  input: uidInput.extend({ rationale: rationale.optional() }),
  output: silence,
  errors: ['not_found', 'not_your_tenant', 'wrong_state', 'precondition_failed'],
  allow: 'intelligence:silence',
  versioned: true,

  async run(call, { uid, rationale }) {
    const { doc, answer } = await call.store(silences).update<Refusal | undefined>(uid, ({ value }) => {
      const next = maySee(call, value)
        ? endSilence(value, attributeAction(call, rationale), call.now())
        : refuseUnknownSilence()
      if (isRefusal(next)) return { answer: next }
      const event = call.audited(call.address, uid, { owner: value.owner }, value.silence_label)
      return { next, answer: undefined, audit: [event] }
    })
    return isRefusal(answer) ? answer : await showSilence(call, doc)
  },
})
