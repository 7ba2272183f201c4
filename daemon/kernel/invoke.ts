// The path of every request, whatever carried it: who is it, may they, is it well formed, do it, say what came of it.
import { serviceCaller } from './admission.ts'
import type { AuditEvent } from './audit.ts'
import type { Call, Delivery, Others, Surroundings } from './call.ts'
import { digestOf, sha256 } from './canonical.ts'
import { type ErrorCode, isRefused, type Refused, refuse } from './errors.ts'
import type { Caller, IdentityProvider } from './identity.ts'
import { parseInput } from './input.ts'
import type { Label } from './label.ts'
import { type Addressed, type AnyOperation, Reply } from './operation.ts'
import { scopedStore } from './scoped-store.ts'
import type { Spans } from './spans.ts'
import type { Collection, Store, Stored } from './store.ts'
import type { Trace } from './trace.ts'

/** A request with the carrier's details stripped off. */
export type Request = {
  readonly params: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string | readonly string[]>>
  readonly body: unknown
  /** The whole input as one object, from a carrier that knows no paths and queries; the other three are then empty. */
  readonly fields?: Readonly<Record<string, unknown>>
  readonly accepts: readonly string[]
  readonly if_match: number | undefined
  readonly idempotency_key: string | undefined
  readonly last_event_id: string | undefined
  readonly trace: Trace
  readonly signal: AbortSignal
  /** The whole Authorization header, for the operations that authenticate clients rather than tokens. */
  readonly authorization?: string | undefined
  readonly delivery?: Delivery | undefined
}

export type Answer = { readonly status: number; readonly body: unknown; readonly version?: number }

/** What a role's calls are made of. */
export type Workshop = {
  readonly surroundings: Surroundings
  /** What other roles do for a call, asked in its trace. */
  readonly others: (trace: Trace) => Others
  readonly identity: IdentityProvider
  /** Role name to permissions, the profile's additions included. */
  readonly role_table: Readonly<Record<string, readonly string[]>>
  readonly store: Store
  readonly record: (events: readonly AuditEvent[]) => Promise<void>
  /** Where ended work is told; undefined: nowhere. */
  readonly spans?: Spans | undefined
  /** The one tenant whose people the role serves; undefined: all. */
  readonly only_tenant?: string | undefined
}

/** Runs an admitted request to its answer. Never throws: whatever goes wrong becomes a `Refused`. */
export async function perform(
  shop: Workshop,
  target: Addressed,
  caller: Caller,
  request: Request,
): Promise<Answer | Refused> {
  const { operation } = target
  const input = parseInput(operation, request)
  if (isRefused(input)) return input
  const call = makeCall(shop, target.address, caller, request, input)
  try {
    const result = await operation.run(call, input)
    if (isRefused(result)) return await denied(call, operation, input, result)
    const status = (result instanceof Reply ? result.status : undefined) ?? operation.status ?? 200
    return { status, body: result, ...versionOf(operation, result) }
  } catch (error) {
    if (isRefused(error)) return await denied(call, operation, input, error)
    const { trace_id, span_id } = request.trace
    shop.surroundings.log.error(`${target.address}.failed`, { trace_id, span_id, error: describe(error) })
    return refuse('internal', 'the service failed; the trace id finds the cause in its log')
  }
}

/** Runs a worker, or an operation in the service's own name; see `perform` for requests from outside. */
export function serviceCall(shop: Workshop, role: string, address: string, trace: Trace, signal: AbortSignal): Call {
  const request: Request = {
    params: {},
    query: {},
    body: undefined,
    accepts: [],
    if_match: undefined,
    idempotency_key: undefined,
    last_event_id: undefined,
    trace,
    signal,
  }
  return makeCall(shop, address, serviceCaller(role), request, {})
}

function versionOf(operation: AnyOperation, result: unknown): { version?: number } {
  if (!operation.versioned || result instanceof Reply) return {}
  const version = (result as { version?: unknown }).version
  return typeof version === 'number' ? { version } : {}
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

/** Refusals that an auditor wants to know of: someone known tried what they may not, or what came too late. */
const audited: ReadonlySet<ErrorCode> = new Set([
  'forbidden',
  'not_your_tenant',
  'not_contributor',
  'signature_invalid',
  'label_denied',
  'session_closed',
  'quorum_full',
])

/** The object that a call was refused on: its record is not for auditors below its label. */
const refusedOn = new WeakMap<Call, { readonly id: string; readonly label: Label | undefined }>()

async function denied(
  call: Call,
  operation: AnyOperation,
  input: Record<string, unknown>,
  refused: Refused,
): Promise<Refused> {
  if (operation.method === 'GET' || !audited.has(refused.code)) return refused
  const object = refusedOn.get(call)
  const target = String(input.id ?? input.session_id ?? object?.id ?? '')
  const event = call.audited(call.address, target, { code: refused.code }, object?.label)
  await call.record([{ ...event, outcome: 'refused' }]).catch((error: unknown) => {
    const { trace_id, span_id } = call.trace
    call.log.error(`${call.address}.audit-failed`, { trace_id, span_id, error: describe(error) })
  })
  return refused
}

/** The call inherits the role's surroundings, so that a request allocates its own few fields and nothing else. */
function makeCall(shop: Workshop, address: string, caller: Caller, request: Request, input: unknown): Call {
  const { surroundings } = shop
  const { trace } = request
  const nowIso = () => isoOf(surroundings.now())
  const own: Omit<Call, keyof Surroundings> = {
    caller,
    address,
    trace,
    others: shop.others(trace),
    signal: request.signal,
    accepts: request.accepts,
    last_event_id: request.last_event_id,
    authorization: request.authorization,
    if_match: request.if_match,
    idempotency_key: request.idempotency_key,
    delivery: request.delivery,
    requestDigest: () => digestOf(input),
    nowIso,
    newId: (prefix) => `${prefix}_${idDigits(surroundings, caller, address, request.idempotency_key)}`,
    store: <T extends Stored>(of: Collection<T>) =>
      scopedStore(shop.store, of, {
        caller,
        labels: surroundings.site.labels,
        if_match: request.if_match,
        refusedOn: (id, label) => refusedOn.set(call, { id, label }),
      }),
    // In canonical order, in which it is printed fastest.
    audited: (action, target, detail, label?: Label) => ({
      action,
      ...(caller.actor ? { actor: caller.actor } : {}),
      at: nowIso(),
      detail: { ...detail },
      ...(label ? { label } : {}),
      outcome: 'done',
      subject: caller.subject,
      target,
      // What the site's own hand does is a matter of the site's tenant, whose auditors must see it.
      tenant_id: caller.tenant_id === '*' ? surroundings.site.tenant_id : caller.tenant_id,
      trace_id: trace.trace_id,
    }),
    record: shop.record,
  }
  const call: Call = Object.assign(Object.create(surroundings) as Surroundings, own)
  return call
}

let lastInstant = { ms: Number.NaN, iso: '' }

/** Many requests fall into one millisecond, and each prints it twice. */
function isoOf(ms: number): string {
  if (ms !== lastInstant.ms) lastInstant = { ms, iso: new Date(ms).toISOString() }
  return lastInstant.iso
}

function idDigits(from: Surroundings, caller: Caller, address: string, key: string | undefined): string {
  return key === undefined
    ? from.random(16)
    : sha256(JSON.stringify([caller.tenant_id, caller.subject, address, key])).slice(0, 32)
}
