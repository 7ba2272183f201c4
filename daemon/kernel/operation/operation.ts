// An operation, declared once: its route, tool, OpenAPI, permission, metric and audit action all follow from here.
import type * as z from 'zod'
import type { ErrorCode, Refusal } from '../error/errors.ts'
import type { Permission } from '../identity/identity.ts'
import type { Call } from './call.ts'
import type { InputSchema, OutputSchema } from './operation-contract.ts'

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'DELETE'

/** A server-sent event: `id` lets a client resume after it. */
export type ServerEvent = { readonly id: string; readonly event: string; readonly data: unknown }

/** An answer that is not the plain JSON of `output`. */
export class RawResponse {
  readonly content_type: string
  readonly body: string | AsyncIterable<ServerEvent>
  readonly headers: Readonly<Record<string, string>>
  /** The operation's own unless said. */
  readonly status: number | undefined

  constructor(
    content_type: string,
    body: string | AsyncIterable<ServerEvent>,
    headers: Readonly<Record<string, string>> = {},
    status?: number,
  ) {
    this.content_type = content_type
    this.body = body
    this.headers = headers
    this.status = status
  }
}

export type Operation<I extends InputSchema = InputSchema, O extends OutputSchema = OutputSchema> = {
  readonly summary: string
  readonly method: HttpMethod
  /** Parameters as `{name}`; each is a field of `input`. */
  readonly path: string
  /** Further paths that serve the same operation. */
  readonly also?: readonly string[]
  /** MCP tool name; absent: not offered to AI clients. */
  readonly tool?: string
  /** Path parameters, query (GET, DELETE) and body (POST, PUT) as one flat, strict object. */
  readonly input: I
  readonly output: O
  /** What this operation may refuse with, besides what the kernel itself refuses. */
  readonly errors: readonly ErrorCode[]
  /** The one permission it needs; `authenticated`: any valid token; `public`: none. */
  readonly allow: Permission | 'authenticated' | 'public'
  /** Status of success; 200 unless said. 204 answers nothing. */
  readonly status?: 200 | 201 | 202 | 204
  /** JSON answers by status that are neither success nor a problem document, as another standard asks for; see `Reply`. */
  readonly otherwise?: Readonly<Record<number, z.ZodType>>
  /** Media types other than JSON that it may answer with. */
  readonly produces?: readonly string[]
  /** The media type of the request body; JSON unless said. */
  readonly consumes?: 'application/x-www-form-urlencoded'
  /** Any JSON, of a sender who proves itself by a signature over the bytes: nothing of it is parsed before; see `Call.delivery`. */
  readonly signed?: boolean
  /** Honours `Idempotency-Key`. */
  readonly creates?: boolean
  /** The answer carries `version` as an ETag, and `If-Match` is honoured. */
  readonly versioned?: boolean
  /** Largest request body; 1 MiB unless said. */
  readonly max_body_bytes?: number
  /** In profiles C and D only the internal listener and the local socket serve it. */
  readonly inside?: boolean
  /** A stream has no time limit; everything else has 30 s. */
  readonly streams?: boolean
  readonly run: (call: Call, input: z.output<I>) => Promise<z.output<O> | Refusal | RawResponse>
}

/** Declares an operation; exists for the types: `run` sees exactly the parsed input and must answer the output. */
export function operation<I extends InputSchema, O extends OutputSchema>(given: Operation<I, O>): Operation<I, O> {
  return given
}

// biome-ignore lint/suspicious/noExplicitAny: run's parameter is contravariant, so a list of different operations needs it
export type AnyOperation = Operation<any, any>

/** An operation with the address that its place in a role gives it: `role.noun.verb`. */
export type AddressedOperation = { readonly address: string; readonly role: string; readonly operation: AnyOperation }

/** What must be known before a request is let in: of an operation, and of whatever else a listener serves. */
export type ServedRoute = {
  readonly address: string
  readonly operation: Pick<AnyOperation, 'method' | 'path' | 'also' | 'allow' | 'max_body_bytes'> &
    Partial<Pick<AnyOperation, 'consumes' | 'creates' | 'signed' | 'streams'>>
}

/** The names between braces in a path, in order. */
export function pathParameters(path: string): string[] {
  return [...path.matchAll(/\{([a-z_]+)\}/g)].map((match) => match[1] ?? '')
}

export function hasBody(method: HttpMethod): boolean {
  return method === 'POST' || method === 'PUT'
}
