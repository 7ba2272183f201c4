// The part of an operation that a role which requests it needs to know: its address and the form of input and answer.
import type * as z from 'zod'
import { isRefusal, type Refusal } from '../error/errors.ts'

export type InputSchema = z.ZodObject
export type OutputSchema = z.ZodType

/**
 * Declared in `daemon/shared` where requester and server are two roles; the operation at `address` is built from the same
 * input. `output` may read less than the operation answers.
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

/** Operations of the roles of this site, in this process or another, requested in the name of the role that calls. */
export interface RoleClients {
  /**
   * The parsed answer, or a refusal that would be the same at the next try. Throws a retryable refusal, and what is not a
   * refusal.
   */
  request<I extends InputSchema, O extends OutputSchema>(
    contract: OperationContract<I, O>,
    input: ContractInput<I>,
  ): Promise<z.output<O> | Refusal>
}

/** The answer of a request that nothing but a defect can make the other role refuse: throws the refusal. */
export async function throwRefusal<T>(answer: Promise<T | Refusal>): Promise<T> {
  const value = await answer
  if (isRefusal(value)) throw value
  return value
}
