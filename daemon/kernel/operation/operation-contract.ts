// The contract of an operation, known to the roles that call it: its address, input and output.
import type * as z from 'zod'
import { isRefusal, type Refusal } from '../error/errors.ts'

export type InputSchema = z.ZodObject
export type OutputSchema = z.ZodType

/**
 * Declared in `daemon/shared` when client and server are different roles. The operation at `address` is built from
 * the same input. `output` may be a part of the operation's output.
 */
export type OperationContract<I extends InputSchema = InputSchema, O extends OutputSchema = OutputSchema> = {
  /** `role.noun.verb` */
  readonly address: string
  readonly input: I
  readonly output: O
}

/** Declares a contract; exists for the types. */
export function operationContract<I extends InputSchema, O extends OutputSchema>(
  contract: OperationContract<I, O>,
): OperationContract<I, O> {
  return contract
}

type DeepReadonly<T> = T extends readonly (infer E)[]
  ? readonly DeepReadonly<E>[]
  : T extends object
    ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
    : T

/** Input as a requester gives it, before defaults are filled in. */
export type ContractInput<I extends InputSchema> = DeepReadonly<z.input<I>>

/** `idempotency_key`: for an operation that honours it, which then finds what it made for the same key. */
export type RoleRequestOptions = { readonly idempotency_key?: string }

/** Operations of the roles of this site, in this process or another, requested in the name of the role that calls. */
export interface RoleClients {
  /** The parsed output, or a refusal that a retry would repeat. Throws a retryable refusal, and any other error. */
  request<I extends InputSchema, O extends OutputSchema>(
    contract: OperationContract<I, O>,
    input: ContractInput<I>,
    options?: RoleRequestOptions,
  ): Promise<z.output<O> | Refusal>
}

/** Unwraps the answer to a request that only a defect can make the other role refuse: throws the refusal. */
export async function throwRefusal<T>(answer: Promise<T | Refusal>): Promise<T> {
  const value = await answer
  if (isRefusal(value)) throw value
  return value
}
