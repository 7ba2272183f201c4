// Performs an admitted request of any listener: parses its input, runs the operation, and audits refusals.

import { canonicalDigest, sha256 } from '../encoding/canonical-json.ts'
import { type ErrorCode, isRefusal, type Refusal, refuse } from '../error/errors.ts'
import { serviceCaller } from '../identity/admit-caller.ts'
import type { DelegatingCredential, StoredPrincipal, WorkPlace } from '../identity/delegation.ts'
import type { Caller } from '../identity/identity.ts'
import { resolveStoredCaller } from '../identity/resolve-stored-caller.ts'
import type { Label } from '../label/label.ts'
import { scopedStore } from '../store/scoped-store.ts'
import type { Collection, StoredFields } from '../store/store.ts'
import { findFailureCause } from '../telemetry/report-throttle.ts'
import type { Trace } from '../telemetry/trace.ts'
import type { Call, CallTarget, StoredCallTerms } from './call.ts'
import { formatInstant } from './format-instant.ts'
import { type AddressedOperation, type AnyOperation, isServedBy, RawResponse, takesLargeBody } from './operation.ts'
import { parseInput } from './parse-input.ts'
import type { OperationRequest, OperationResponse, RoleContext } from './role-context.ts'
import type { RoleEnvironment } from './role-environment.ts'
import { surfaceTools } from './surface-tools.ts'
import { withinTimeLimit } from './within-time-limit.ts'

/** Runs an admitted request to its response. Never throws: every failure becomes a `Refusal`. */
export async function performOperation(
  context: RoleContext,
  target: AddressedOperation,
  caller: Caller,
  request: OperationRequest,
): Promise<OperationResponse | Refusal> {
  const { operation } = target
  if (!isServedBy(operation, request.through?.surface)) return refuse('not_found', 'the operation is not offered here')
  const isLarge = takesLargeBody(operation)
  if (isLarge) await context.environment.pause()
  const input = parseInput(operation, request)
  if (isRefusal(input)) return input
  if (isLarge) await context.environment.pause()
  const call = createCall(context, target.address, caller, request, input, request.signal)
  try {
    const result = await operation.run(call, input)
    if (isRefusal(result)) return await auditRefusal(call, operation, input, result)
    const status = (result instanceof RawResponse ? result.status : undefined) ?? operation.status ?? 200
    return { status, body: result, ...versionOf(operation, result) }
  } catch (error) {
    if (isRefusal(error)) return await auditRefusal(call, operation, input, error)
    logFailure(context, target.address, request.trace, error)
    return refuse('internal', 'the service failed; find the cause in its log by the trace id or the operation')
  }
}

/** Once a minute for each cause: a caller can repeat the request. */
function logFailure({ throttle, environment }: RoleContext, address: string, trace: Trace, error: unknown): void {
  const times = throttle(`${address} ${findFailureCause(error)}`)
  if (times === undefined) return
  const { trace_id, span_id } = trace
  environment.log.error(`${address}.failed`, { trace_id, span_id, times, error: describeError(error) })
}

/** A request without parameters, body or conditions. */
export const emptyRequest: Omit<OperationRequest, 'trace' | 'signal'> = {
  params: {},
  query: {},
  body: undefined,
  accepts: [],
  if_match: undefined,
  idempotency_key: undefined,
  last_event_id: undefined,
}

/**
 * Creates the call of a worker, or of an operation in the service's own name; `performOperation` serves outside
 * requests.
 */
export function createServiceCall(
  context: RoleContext,
  role: string,
  address: string,
  trace: Trace,
  signal: AbortSignal,
): Call {
  return createCall(context, address, serviceCaller(role), { ...emptyRequest, trace, signal }, {})
}

/**
 * Creates the call of work that the role performs for a caller without a request of that caller. Its signal ends it.
 * `credential`: for what the call does in the name of the caller.
 */
export function createCallFor(
  context: RoleContext,
  caller: Caller,
  address: string,
  trace: Trace,
  signal: AbortSignal,
  credential?: DelegatingCredential,
): Call {
  return createCall(context, address, caller, { ...emptyRequest, trace, signal, credential }, {}, signal)
}

/** The call of the principal of stored work, within the work of another call. Its signal ends it. */
async function openStoredCall(
  context: RoleContext,
  address: string,
  { trace, signal }: Pick<OperationRequest, 'trace' | 'signal'>,
  credential: DelegatingCredential,
  terms: StoredCallTerms,
): Promise<Call | Refusal> {
  const [role = ''] = address.split('.')
  const delegation = context.delegation(trace, credential, signal)
  const caller = await resolveStoredCaller(delegation, { ...terms, role, role_table: context.role_table })
  return isRefusal(caller) ? caller : createCallFor(context, caller, address, trace, signal, credential)
}

function versionOf(operation: AnyOperation, result: unknown): { version?: number } {
  if (!operation.versioned || result instanceof RawResponse) return {}
  const version = (result as { version?: unknown }).version
  return typeof version === 'number' ? { version } : {}
}

function describeError(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

/** Refusals that are audited: a known caller attempted a forbidden action, or a contribution came too late. */
const auditedCodes: ReadonlySet<ErrorCode> = new Set([
  'forbidden',
  'not_your_tenant',
  'not_contributor',
  'signature_invalid',
  'result_invalid',
  'label_denied',
  'session_closed',
  'quorum_full',
])

/** The object of a call, as far as it is known. Auditors below its label do not see the record of a refusal. */
const callTargets = new WeakMap<Call, Partial<CallTarget>>()

async function auditRefusal(
  call: Call,
  operation: AnyOperation,
  input: Record<string, unknown>,
  refusal: Refusal,
): Promise<Refusal> {
  if (operation.method === 'GET' || !auditedCodes.has(refusal.code)) return refusal
  const object = callTargets.get(call)
  const target = String(input.id ?? input.session_id ?? object?.id ?? '')
  const event = call.audited(call.address, target, { code: refusal.code, ...object?.detail }, object?.label)
  await call.record([{ ...event, outcome: 'refused' }]).catch((error: unknown) => {
    const { trace_id, span_id } = call.trace
    call.log.error(`${call.address}.audit-failed`, { trace_id, span_id, error: describeError(error) })
  })
  return refusal
}

/**
 * The call inherits the environment of the role, so that a request allocates its own few fields and nothing else. `end`:
 * once it is aborted, the call changes nothing more and requests nothing of other roles. A worker has none: it still
 * records at a stop what it has done.
 */
function createCall(
  context: RoleContext,
  address: string,
  caller: Caller,
  request: OperationRequest,
  input: unknown,
  end?: AbortSignal,
): Call {
  const { environment } = context
  const { trace } = request
  const nowIso = () => formatInstant(environment.now())
  let digest: string | undefined
  const callFields: Omit<Call, keyof RoleEnvironment> = {
    caller,
    address,
    trace,
    roles: context.roles(trace, end),
    signal: request.signal,
    accepts: request.accepts,
    last_event_id: request.last_event_id,
    authorization: request.authorization,
    if_match: request.if_match,
    idempotency_key: request.idempotency_key,
    signed_body: request.signed_body,
    client: request.client,
    requestDigest: () => {
      digest ??= canonicalDigest(input)
      return digest
    },
    nowIso,
    newId: (prefix) => `${prefix}_${deriveIdDigits(environment, caller, address, request.idempotency_key)}`,
    store: <T extends StoredFields>(collection: Collection<T>) =>
      scopedStore(context.store, collection, {
        caller,
        labels: environment.site.labels,
        if_match: request.if_match,
        end,
        onRefusal: (id, label) => call.nameTarget({ id, label }),
      }),
    tools: (surface, others) =>
      surfaceTools(surface, others ?? context.operations, caller, (target, fields, end = request.signal) =>
        withinTimeLimit({ environment, operation: target.operation, signal: end }, (signal) =>
          performOperation(context, target, caller, {
            ...emptyRequest,
            through: { surface, fields },
            accepts: ['application/json'],
            trace,
            signal,
            credential: request.credential,
          }),
        ),
      ),
    delegation: (stored?: StoredPrincipal, work?: WorkPlace) =>
      context.delegation(trace, stored && work ? { grant: stored.grant, work } : request.credential, end),
    openCallOf: ({ grant }, work, terms) => openStoredCall(context, address, request, { grant, work }, terms),
    openConfinedCall: (party) => {
      if (caller.tenant_id !== '*') throw new TypeError(`${address} may not act for another party`)
      const confined = { ...party, roles: [], permissions: new Set<string>() }
      return createCallFor(context, confined, address, trace, request.signal)
    },
    reportProgress: (progress) => request.onProgress?.(progress),
    // Members in canonical order, in which they print fastest.
    audited: (action, target, detail, label?: Label) => ({
      action,
      ...(caller.actor ? { actor: caller.actor } : {}),
      at: nowIso(),
      detail: { ...detail },
      ...(label ? { label } : {}),
      outcome: 'done',
      subject: caller.subject,
      target,
      // Auditors of the site's tenant must see the work of its services.
      tenant_id: caller.tenant_id === '*' ? (caller.only_tenant ?? environment.site.tenant_id) : caller.tenant_id,
      trace_id: trace.trace_id,
    }),
    nameTarget: (target) => callTargets.set(call, { ...callTargets.get(call), ...target }),
    record: context.record,
  }
  const call: Call = Object.assign(Object.create(environment) as RoleEnvironment, callFields)
  return call
}

function deriveIdDigits(
  environment: RoleEnvironment,
  caller: Caller,
  address: string,
  key: string | undefined,
): string {
  return key === undefined
    ? environment.random(16)
    : sha256(JSON.stringify([caller.tenant_id, caller.subject, address, key])).slice(0, 32)
}
