// Says that somebody has seen the signal.
import { operation } from '../../../kernel/operation.ts'
import { rationale, uidInput } from '../fields.ts'
import { deedOf } from './change.ts'
import { commanded, commandParts, commandPaths } from './commands.ts'
import { become } from './rules.ts'
import { commandSystemFields } from './system-fields.ts'

export const acknowledge = operation({
  ...commandParts,
  ...commandPaths('acknowledge'),
  summary: 'Acknowledge a new signal',
  tool: 'signal_acknowledge',
  input: uidInput.extend({ note: rationale.optional(), ...commandSystemFields }),

  run: (call, given) => commanded(call, given, (current) => become(current, 'acknowledged', deedOf(call, given.note))),
})
