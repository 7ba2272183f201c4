// A surface: a second protocol besides REST for the operations of a role, on the same listener at its own path.
import type { Refusal } from '../error/errors.ts'
import type { Caller } from '../identity/identity.ts'
import type { AddressedOperation, ServedRoute, ServerEvent, SurfaceName } from '../operation/operation.ts'
import type { OperationResponse } from '../operation/role-context.ts'
import type { Trace } from '../telemetry/trace.ts'
import type { ToolClient } from '../tools/client-input.ts'
import type { ToolProgress } from '../tools/tool-service.ts'

/** Header names are in lower case. Values of a repeated field are joined by commas. */
export type HeaderFields = Readonly<Record<string, string>>

/** A request to a surface, admitted like a request to an operation, with its body read. */
export type SurfaceRequest = {
  readonly method: string
  /** Absolute path with the query. */
  readonly path: string
  readonly headers: HeaderFields
  /** The parsed JSON body; undefined when the request has none. */
  readonly body: unknown
  readonly caller: Caller
  /** Aborted when the request has ended: at the end of its stream, too. */
  readonly signal: AbortSignal
  /** The caller as its credential identifies it now, or the refusal of a credential that has expired or was revoked. */
  readmit(): Promise<Caller | Refusal>
  /**
   * Runs an operation of the surface like a REST request: admitted, limited, counted and logged under its address.
   * Fields of `headers` override those of the request. Never throws, and ends at `cancelled` or at the time limit of
   * the request.
   */
  perform(
    target: AddressedOperation,
    input: Readonly<Record<string, unknown>>,
    options: SurfaceCallOptions,
  ): Promise<SurfaceCallResult>
}

export type SurfaceCallOptions = {
  readonly headers: HeaderFields
  /** `traceparent` and `tracestate` of the message, in a protocol whose messages have a trace; one of the request takes precedence. */
  readonly trace: HeaderFields
  /** Aborted when the client cancels the call, in a protocol that can. */
  readonly cancelled: AbortSignal | undefined
  /** Receives what the operation reports while it runs. */
  readonly onProgress?: ((progress: ToolProgress) => void) | undefined
  /** Undefined for a client from which a tool can request nothing. */
  readonly client?: ToolClient | undefined
}

export type SurfaceCallResult = { readonly outcome: OperationResponse | Refusal; readonly trace: Trace }

export type SurfaceResponse = {
  readonly status: number
  readonly headers: HeaderFields
  /** Undefined for an empty body. */
  readonly text: string | undefined
}

/**
 * A response without an end of its own. From here on the request takes the shares of a stream, or is refused for want of
 * one. Ends when the caller is not admitted any more, does not read, or the service stops.
 */
export type SurfaceStream = {
  readonly status: number
  readonly headers: HeaderFields
  readonly events: AsyncIterable<ServerEvent>
}

export type Surface = {
  readonly name: SurfaceName
  /** Each route has its own path, or its own method at a shared path. */
  readonly routes: readonly ServedRoute[]
  /** The refusal of a request by its headers alone, before its body is read; undefined when it is admitted. */
  refusal(headers: HeaderFields): Refusal | undefined
  /** Parameters to append to the `WWW-Authenticate` challenge of a 401, as in `, name="value"`. */
  challenge(headers: HeaderFields): string
  answer(request: SurfaceRequest): Promise<SurfaceResponse | SurfaceStream>
}
