// Archives a signal: dismisses and marks it. Nothing is deleted.
import { operation } from '../../../kernel/operation/operation.ts'
import { rationale, uidInput } from '../fields.ts'
import { attributeAction } from './change-signal.ts'
import { commandParts, commandPaths, runCommand } from './commands.ts'
import { archiveSignal } from './rules.ts'
import { commandSystemFields } from './system-fields.ts'

export const archive = operation({
  ...commandParts,
  ...commandPaths('archive'),
  summary: 'Archive a signal: dismiss it and mark it as archived',
  tool: 'signal_archive',
  input: uidInput.extend({ rationale: rationale.optional(), ...commandSystemFields }),

  run: (call, input) =>
    runCommand(call, input, (current) => archiveSignal(current, attributeAction(call, input.rationale))),
})
