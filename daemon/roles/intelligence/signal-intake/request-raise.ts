// The role requests a signal of itself, where the caller may not write, or not see, the signal of a source.
import { isRefusal, type Refusal } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { operationContract } from '../../../kernel/operation/operation-contract.ts'
import { type RaiseSignalInput, raiseInput } from './item/model.ts'
import { type RaisedSignal, raisedSignal } from './raise-signal.ts'

export const raiseContract = operationContract({
  address: 'intelligence.signal-intake.raise',
  input: raiseInput,
  output: raisedSignal,
})

/** Like `roles.request`, with every refusal as a value. */
export async function requestRaise({ roles }: Call, input: RaiseSignalInput): Promise<RaisedSignal | Refusal> {
  try {
    return await roles.request(raiseContract, input)
  } catch (error) {
    if (isRefusal(error)) return error
    throw error
  }
}
