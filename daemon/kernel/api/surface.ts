// A second way to a role's operations besides REST: another protocol, at a path of its own on the same listener.
import type { Refusal } from '../error/errors.ts'
import type { Caller } from '../identity/identity.ts'
import type { AddressedOperation, ServedRoute } from '../operation/operation.ts'
import type { OperationResponse } from '../operation/role-context.ts'
import type { Trace } from '../telemetry/trace.ts'

/** Header names in lower case; a field that came more than once is joined by commas. */
export type HeaderFields = Readonly<Record<string, string>>

/** A request that was admitted as one for an operation is, with its body read. */
export type SurfaceRequest = {
  readonly method: string
  /** From the root, with the query. */
  readonly path: string
  readonly headers: HeaderFields
  /** The parsed JSON; undefined for none. */
  readonly body: unknown
  readonly caller: Caller
  /**
   * Runs an operation as a REST request would: admitted, limited, counted and logged under its address.
   * `headers` are laid over those of the request. Never throws, and waits no longer than `cancelled` and the time of
   * the request allow.
   */
  perform(
    target: AddressedOperation,
    input: Readonly<Record<string, unknown>>,
    asked: SurfaceCallOptions,
  ): Promise<SurfaceCallResult>
}

/** `cancelled`: aborted when the client wants it no more, where the protocol can say so. */
export type SurfaceCallOptions = { readonly headers: HeaderFields; readonly cancelled: AbortSignal | undefined }

export type SurfaceCallResult = { readonly outcome: OperationResponse | Refusal; readonly trace: Trace }

export type SurfaceResponse = {
  readonly status: number
  readonly headers: HeaderFields
  /** Undefined for none. */
  readonly text: string | undefined
}

export type Surface = {
  /** Each with a path of its own or a method of its own there. */
  readonly routes: readonly ServedRoute[]
  /** Why the request is not even looked at, by its head alone. */
  refusal(headers: HeaderFields): Refusal | undefined
  /** Text added to the challenge of a 401, as in `, name="value"`. */
  challenge(headers: HeaderFields): string
  answer(request: SurfaceRequest): Promise<SurfaceResponse>
}
