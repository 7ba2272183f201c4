// What the commands on a signal have in common: their address, what they may refuse, and what they answer.
import type { Call } from '../../../kernel/call.ts'
import { isRefused, type Refused } from '../../../kernel/errors.ts'
import { ownedPaths } from '../../../kernel/owned.ts'
import { changeSignal } from './change.ts'
import type { StoredSignal } from './model.ts'
import { mergedAway } from './rules.ts'
import { changedSignal, strippedOf } from './system-fields.ts'
import { shown } from './view.ts'

export function commandPaths(command: string): { readonly path: string; readonly also: readonly string[] } {
  const [path = '', ...also] = ownedPaths('signal', `/{uid}/${command}`)
  return { path, also }
}

export const commandParts = {
  method: 'POST',
  output: changedSignal,
  errors: ['not_found', 'not_your_tenant', 'wrong_state', 'precondition_failed'],
  allow: 'intelligence:review',
  versioned: true,
} as const

export async function commanded(
  call: Call,
  given: Readonly<Record<string, unknown>> & { readonly uid: string },
  rule: (current: StoredSignal) => StoredSignal | Refused,
) {
  const done = await changeSignal(call, given.uid, (current) => mergedAway(current) ?? rule(current))
  return isRefused(done) ? done : { ...shown(call, done), stripped_fields: strippedOf(given, true) }
}
