// An operation, declared once: route, tool, OpenAPI, permission, metric and audit action derive from the declaration.
import type * as z from 'zod'
import type { ErrorCode, Refusal } from '../error/errors.ts'
import type { Permission } from '../identity/identity.ts'
import type { MessageKind } from '../messaging/message-kind.ts'
import type { ToolDefinition } from '../tools/tool-service.ts'
import type { Call } from './call.ts'
import type { InputSchema, OutputSchema } from './operation-contract.ts'

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/**
 * A protocol besides REST that offers operations as tools: `agentspace` to AI clients; `admin_chat` only to the
 * conversation of an administrator with the guidance layer, so that its tools are in no list that others read.
 */
export type SurfaceName = 'agentspace' | 'admin_chat'

/** A server-sent event: `id` lets a client resume after it; absent where nothing is resumed. */
export type ServerEvent = { readonly id?: string; readonly event: string; readonly data: unknown }

/** A response that is not the plain JSON of `output`. */
export class RawResponse {
  readonly content_type: string
  readonly body: string | AsyncIterable<ServerEvent>
  readonly headers: Readonly<Record<string, string>>
  /** Default: the status of the operation. */
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
  /** Without a path: the method whose semantics the tool has, such as GET for one that only reads. */
  readonly method: HttpMethod
  /** Parameters as `{name}`; each is a field of `input`. Absent: only a surface serves the operation. */
  readonly path?: string
  /** Further paths that serve the same operation. */
  readonly also?: readonly string[]
  /** Name of the tool; absent: no surface offers the operation as a tool. */
  readonly tool?: string
  /** How lists show the tool, where another service has defined it; absent: derived from the declaration. */
  readonly tool_definition?: ToolDefinition
  /** The only surface that serves the operation; default `agentspace`. With neither path nor tool: by a resource of the role. */
  readonly surface?: SurfaceName
  /** Path parameters, query (GET, DELETE) and body (POST, PUT, PATCH) as one flat, strict object. */
  readonly input: I
  readonly output: O
  /** Error codes of this operation, besides those of the kernel. */
  readonly errors: readonly ErrorCode[]
  /**
   * The permission that the operation requires; `authenticated`: any valid token; `public`: none. `role`: the roles of
   * the site whose code requests it, and nobody else, whatever permissions they have.
   */
  readonly allow: Permission | 'authenticated' | 'role' | 'public'
  /** Status of success; default 200. 204 has no body. */
  readonly status?: 200 | 201 | 202 | 204
  /**
   * JSON responses by status that are neither success nor a problem document, as another standard requires; see
   * `RawResponse`.
   */
  readonly otherwise?: Readonly<Record<number, z.ZodType>>
  /** Media types other than JSON that it may answer with. */
  readonly produces?: readonly string[]
  /** Media type of the request body; default JSON. */
  readonly consumes?: 'application/x-www-form-urlencoded'
  /**
   * True for JSON whose sender signs its bytes: it is parsed only after the signature is verified; see
   * `Call.signed_body`.
   */
  readonly signed?: boolean
  /** The signed message of a peer that the request carries: its kind, and the schema of its data. */
  readonly message?: { readonly kind: MessageKind; readonly data: z.ZodType }
  /** Honours `Idempotency-Key`. */
  readonly creates?: boolean
  /** True for a POST that changes nothing: its input is too large for a query. */
  readonly reads?: boolean
  /** The answer carries `version` as an ETag, and `If-Match` is honoured. */
  readonly versioned?: boolean
  /** Largest request body in bytes; default 1 MiB. The stages of a larger one take a turn of the event loop each. */
  readonly max_body_bytes?: number
  /** Largest number of values in a JSON body; default 10,000. The same for more. */
  readonly max_body_values?: number
  /** True: in profiles C and D only the internal listener and the local socket serve it; so are those that allow `role`. */
  readonly inside?: boolean
  /** True: served without a trace even where the role requires one: load balancers and monitoring send none. */
  readonly untraced?: boolean
  /** Time from the head of a request to its answer, at most 10 minutes; default 30 s. Longer work is a job. */
  readonly time_limit_ms?: number
  /** True for an event stream, which has no time limit. */
  readonly streams?: boolean
  readonly run: (call: Call, input: z.output<I>) => Promise<z.output<O> | Refusal | RawResponse>
}

/** Declares an operation: `run` sees exactly the parsed input and must answer the output. Throws if nothing can reach it. */
export function operation<I extends InputSchema, O extends OutputSchema>(
  declaration: Operation<I, O>,
): Operation<I, O> {
  const { path, tool, surface, streams, summary } = declaration
  if (path === undefined && tool === undefined && surface !== 'agentspace')
    throw new TypeError(`"${summary}" needs a path, a tool, or agentspace as the surface of its resource`)
  if (surface !== undefined && tool === undefined && path !== undefined)
    throw new TypeError(`"${summary}" has a surface, but no tool`)
  if (tool !== undefined && !toolNamePattern.test(tool)) throw new TypeError(`"${tool}" cannot be the name of a tool`)
  if (tool !== undefined && streams) throw new TypeError(`"${summary}" is an event stream, which no tool can return`)
  const limitFault = findTimeLimitFault(declaration)
  if (limitFault) throw new TypeError(`"${summary}" ${limitFault}`)
  const ofPaths = listPathFields(declaration)
  if (path === undefined && ofPaths.length > 0) throw new TypeError(`"${summary}" has ${ofPaths.join()}, but no path`)
  return declaration
}

/** Of an operation that declares none: a caller may hold its share of a listener for so long. */
export const default_time_limit_ms = 30_000
const max_time_limit_ms = 600_000

/** Whether the listeners of profiles C and D for other machines leave it out: a role authenticates on local sockets alone. */
export function isInside({ inside, allow }: Pick<AnyOperation, 'inside' | 'allow'>): boolean {
  return inside === true || allow === 'role'
}

/** Whether performing it changes nothing, by its declaration. */
export function isReadOperation({ method, reads = false }: Pick<AnyOperation, 'method' | 'reads'>): boolean {
  return method === 'GET' || reads
}

/** The time after which the operation is answered `timeout`, wherever the request came from. */
export function timeLimitOf({ time_limit_ms = default_time_limit_ms }: Pick<AnyOperation, 'time_limit_ms'>): number {
  return time_limit_ms
}

/** Whether a request may hold its share of a listener for longer than most: it takes another share. */
export function isLongRequest(operation: Pick<AnyOperation, 'time_limit_ms'>): boolean {
  return timeLimitOf(operation) > default_time_limit_ms
}

function findTimeLimitFault({ time_limit_ms, streams, allow }: Operation): string | undefined {
  if (time_limit_ms === undefined) return undefined
  if (streams) return 'is an event stream, which has no time limit'
  if (!Number.isSafeInteger(time_limit_ms) || time_limit_ms < 1 || time_limit_ms > max_time_limit_ms)
    return `has the time limit ${time_limit_ms} ms; it must be from 1 to ${max_time_limit_ms} ms: longer work is a job`
  // Without a caller, one address could hold the share of all others for minutes.
  if (allow === 'public' && time_limit_ms > default_time_limit_ms)
    return `is public, and has the time limit ${time_limit_ms} ms; it must be at most ${default_time_limit_ms} ms`
  return undefined
}

/** As MCP and the models that call tools take names. */
const toolNamePattern = /^[a-z][a-z0-9_]{0,63}$/

/** The declared fields that only requests by path have. */
function listPathFields(declaration: Operation): string[] {
  const fields = ['also', 'otherwise', 'produces', 'consumes', 'signed', 'inside', 'streams', 'untraced'] as const
  return fields.filter((field) => declaration[field] !== undefined)
}

// biome-ignore lint/suspicious/noExplicitAny: run's parameter is contravariant, so a list of different operations needs it
export type AnyOperation = Operation<any, any>

/** An operation with the address that its place in a role gives it: `role.noun.verb`. */
export type AddressedOperation = { readonly address: string; readonly role: string; readonly operation: AnyOperation }

/** The facts about an operation, or another route, by which a listener admits a request and counts it. */
export type RequestTarget = {
  readonly address: string
  readonly operation: Pick<AnyOperation, 'method' | 'allow' | 'max_body_bytes'> &
    Partial<
      Pick<
        AnyOperation,
        'consumes' | 'creates' | 'max_body_values' | 'signed' | 'streams' | 'time_limit_ms' | 'untraced'
      >
    >
}

/** A target that is served at one or more paths. */
export type ServedRoute = RequestTarget & {
  readonly operation: { readonly path: string; readonly also?: readonly string[] }
}

/** Whether the operation has a path; only a surface serves one that has none. */
export function isRouted(target: AddressedOperation): target is AddressedOperation & ServedRoute {
  return target.operation.path !== undefined
}

/** Whether the surface serves the operation; `undefined`: requests by path, and those of other roles. */
export function isServedBy({ path, surface = 'agentspace' }: AnyOperation, by: SurfaceName | undefined): boolean {
  return by === undefined ? path !== undefined : surface === by
}

/** Of a body, where the operation declares no other limits. Parsing and checking its values occupies the event loop. */
export const default_body_bytes = 1_048_576
export const default_body_values = 10_000

/** Whether a body of the operation may be so large that its stages together would occupy the event loop for too long. */
export function takesLargeBody({ max_body_bytes = default_body_bytes, max_body_values }: AnyOperation): boolean {
  return max_body_bytes > default_body_bytes || max_body_values !== undefined
}

const pathParameterPattern = /\{([a-z_]+)\}/g

/** The names between braces in a path, in order. */
export function pathParameters(path: string | undefined): string[] {
  return [...(path ?? '').matchAll(pathParameterPattern)].map((match) => match[1] ?? '')
}

/** Every path that serves the operation, its own first. */
export function listPaths({ path, also = [] }: Pick<AnyOperation, 'path' | 'also'>): readonly string[] {
  return path === undefined ? [] : [path, ...also]
}

/** The path of a request with this input. Throws TypeError for an operation without a path: a defect of the caller. */
export function fillPath({ path, summary }: AnyOperation, input: Readonly<Record<string, unknown>>): string {
  if (path === undefined) throw new TypeError(`"${summary}" has no path: only its surface serves it`)
  return path.replaceAll(pathParameterPattern, (_, name: string) => encodeURIComponent(String(input[name] ?? '')))
}

export function hasBody(method: HttpMethod): boolean {
  return method === 'POST' || method === 'PUT' || method === 'PATCH'
}
