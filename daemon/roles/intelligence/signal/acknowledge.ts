// Acknowledges a new signal.
import { operation } from '../../../kernel/operation/operation.ts'
import { rationale, uidInput } from '../fields.ts'
import { attributeAction } from './change-signal.ts'
import { commandParts, commandPaths, runCommand } from './commands.ts'
import { changeStatus } from './rules.ts'
import { commandSystemFields } from './system-fields.ts'

export const acknowledge = operation({
  ...commandParts,
  ...commandPaths('acknowledge'),
  summary: 'Acknowledge a new signal',
  tool: 'signal_acknowledge',
  input: uidInput.extend({ note: rationale.optional(), ...commandSystemFields }),

  run: (call, input) =>
    runCommand(call, input, (current) => changeStatus(current, 'acknowledged', attributeAction(call, input.note))),
})
