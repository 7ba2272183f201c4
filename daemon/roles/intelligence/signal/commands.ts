// The common parts of commands on one signal: paths, errors and response.

import { isRefusal, type Refusal } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { objectPaths } from '../object-paths.ts'
import { changeSignal } from './change-signal.ts'
import type { StoredSignal } from './model.ts'
import { checkNotMerged } from './rules.ts'
import { changedSignal, listStrippedFields } from './system-fields.ts'
import { showSignal } from './view.ts'

/** The paths of a command on one signal. */
export const commandPaths = (command: string) => objectPaths('signal', `/{uid}/${command}`)

export const commandParts = {
  method: 'POST',
  output: changedSignal,
  errors: ['not_found', 'not_your_tenant', 'wrong_state', 'precondition_failed'],
  allow: 'intelligence:review',
  versioned: true,
} as const

export async function runCommand(
  call: Call,
  input: Readonly<Record<string, unknown>> & { readonly uid: string },
  rule: (current: StoredSignal) => StoredSignal | Refusal,
) {
  const change = await changeSignal(call, input.uid, (current) => checkNotMerged(current) ?? rule(current))
  return isRefusal(change) ? change : { ...showSignal(call, change), stripped_fields: listStrippedFields(input, true) }
}
