// Requests of one call to operations of the site's roles, by their contracts.
import type * as z from 'zod'
import { isRefusal, type Refusal } from '../kernel/error/errors.ts'
import type {
  ContractInput,
  InputSchema,
  OperationContract,
  OutputSchema,
  RoleClients,
  RoleRequestOptions,
} from '../kernel/operation/operation-contract.ts'
import type { Trace } from '../kernel/telemetry/trace.ts'
import { findOperation } from './loaded-roles.ts'
import type { RoleCaller } from './role-caller.ts'

/** One object for each call, so without closures. Each request goes out in the trace of the call, and ends with it. */
export class SiteRoleClients implements RoleClients {
  readonly #request: RoleCaller
  readonly #trace: Trace
  readonly #end: AbortSignal | undefined

  constructor(request: RoleCaller, trace: Trace, end?: AbortSignal) {
    this.#request = request
    this.#trace = trace
    this.#end = end
  }

  async request<I extends InputSchema, O extends OutputSchema>(
    { address, output }: OperationContract<I, O>,
    input: ContractInput<I>,
    options: RoleRequestOptions = {},
  ): Promise<z.output<O> | Refusal> {
    const operation = await findOperation(address)
    let answer: unknown
    try {
      answer = await this.#request(operation, input, this.#trace, { ...options, signal: this.#end })
    } catch (error) {
      if (isRefusal(error) && !error.row.retryable) return error
      throw error
    }
    return output.parse(answer)
  }
}
