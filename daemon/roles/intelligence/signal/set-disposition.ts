// Sets the status of a signal by a person's decision, with the reason.
import { operation } from '../../../kernel/operation/operation.ts'
import { rationale, uidInput } from '../fields.ts'
import { attributeAction } from './change-signal.ts'
import { commandParts, commandPaths, runCommand } from './commands.ts'
import { signalStatus } from './model.ts'
import { changeStatus } from './rules.ts'
import { commandSystemFields } from './system-fields.ts'

export const setDisposition = operation({
  ...commandParts,
  ...commandPaths('disposition'),
  summary: 'Set the disposition of a signal: acknowledged, investigating, resolved or dismissed',
  tool: 'signal_set_disposition',
  input: uidInput.extend({
    disposition: signalStatus.exclude(['new']).meta({ description: 'The new status of the signal' }),
    rationale,
    ...commandSystemFields,
  }),

  run: (call, input) =>
    runCommand(call, input, (current) =>
      changeStatus(current, input.disposition, attributeAction(call, input.rationale)),
    ),
})
