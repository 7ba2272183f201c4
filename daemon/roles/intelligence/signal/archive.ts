// Puts a signal away: a dismissal with a marker. Nothing is deleted.
import { operation } from '../../../kernel/operation.ts'
import { rationale, uidInput } from '../fields.ts'
import { deedOf } from './change.ts'
import { commanded, commandParts, commandPaths } from './commands.ts'
import { archived } from './rules.ts'
import { commandSystemFields } from './system-fields.ts'

export const archive = operation({
  ...commandParts,
  ...commandPaths('archive'),
  summary: 'Archive a signal: dismiss it and mark it as archived',
  tool: 'signal_archive',
  input: uidInput.extend({ rationale: rationale.optional(), ...commandSystemFields }),

  run: (call, given) => commanded(call, given, (current) => archived(current, deedOf(call, given.rationale))),
})
