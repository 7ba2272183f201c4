// A second way to a role's operations besides REST: another protocol, at a path of its own on the same listener.
import type { Refused } from './errors.ts'
import type { Caller } from './identity.ts'
import type { Answer } from './invoke.ts'
import type { Addressed, Entrance } from './operation.ts'
import type { Trace } from './trace.ts'

/** Header names in lower case; a field that came more than once is joined by commas. */
export type HeadFields = Readonly<Record<string, string>>

/** A request that was admitted as one for an operation is, with its body read. */
export type SurfaceRequest = {
  readonly method: string
  /** From the root, with the query. */
  readonly path: string
  readonly headers: HeadFields
  /** The parsed JSON; undefined for none. */
  readonly body: unknown
  readonly caller: Caller
  /**
   * Runs an operation as if it had been asked for over REST: admitted, limited, counted and logged under its address.
   * `headers` are laid over those of the request. Never throws, and waits no longer than `cancelled` and the time of
   * the request allow.
   */
  perform(target: Addressed, input: Readonly<Record<string, unknown>>, asked: Asked): Promise<Performed>
}

/** `cancelled`: aborted when the client wants it no more, where the protocol can say so. */
export type Asked = { readonly headers: HeadFields; readonly cancelled: AbortSignal | undefined }

export type Performed = { readonly outcome: Answer | Refused; readonly trace: Trace }

export type SurfaceAnswer = {
  readonly status: number
  readonly headers: HeadFields
  /** Undefined for none. */
  readonly text: string | undefined
}

export type Surface = {
  /** Each with a path of its own or a method of its own there. */
  readonly entrances: readonly Entrance[]
  /** Why the request is not even looked at, by its head alone. */
  refusal(headers: HeadFields): Refused | undefined
  /** What is added to the challenge of a 401, as in `, name="value"`. */
  challenge(headers: HeadFields): string
  answer(request: SurfaceRequest): Promise<SurfaceAnswer>
}
