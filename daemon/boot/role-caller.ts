// Requests between roles: in this process by a call, to another process over its local socket or by TLS, with the same result.

import { isRefusal, type Refusal, refuse } from '../kernel/error/errors.ts'
import { refusalFromProblem } from '../kernel/error/problem.ts'
import { admitCaller, serviceCaller } from '../kernel/identity/admit-caller.ts'
import type { Caller } from '../kernel/identity/identity.ts'
import {
  type AddressedOperation,
  type AnyOperation,
  fillPath,
  hasBody,
  pathParameters,
  timeLimitOf,
} from '../kernel/operation/operation.ts'
import { emptyRequest, performOperation } from '../kernel/operation/perform-operation.ts'
import type { OperationRequest, OperationResponse, RoleContext } from '../kernel/operation/role-context.ts'
import { abortRefusal } from '../kernel/operation/until-aborted.ts'
import { withinTimeLimit } from '../kernel/operation/within-time-limit.ts'
import { runInSpan, type SpanStart } from '../kernel/telemetry/spans.ts'
import { childTrace, type Trace, traceHeaders } from '../kernel/telemetry/trace.ts'
import type { RemoteRoles } from './host/remote-roles.ts'
import { type RoleResponse, requestOverSocket, type SocketRequest } from './host/socket-request.ts'
import { findRoleRoute, type RolePlaces, type RoleRoute } from './role-route.ts'
import { roleSocketFile, type SiteFolder } from './storage/site-folder.ts'

type RoleCallInput = Readonly<Record<string, unknown>>

export type RoleCallOptions = {
  /** A token for the other role in the name of a principal; absent: the role requests in its own name. */
  readonly delegated?: string
  /** Ends the request, also in the other role. */
  readonly signal?: AbortSignal | undefined
  readonly idempotency_key?: string | undefined
}

/** `trace`: of the work that makes the request. The requested work continues it with a span of its own. */
export type RoleCaller = (
  target: AddressedOperation,
  input: RoleCallInput,
  trace: Trace,
  options?: RoleCallOptions,
) => Promise<unknown>

export type RoleDirectory = RolePlaces & {
  readonly folder: SiteFolder
  /** Requests of roles at URLs; absent where there are none. */
  readonly remote?: Pick<RemoteRoles, 'request'> | undefined
  /** A token signed with the key of the requesting role, for the requested one. */
  readonly serviceToken: (role: string, target: string) => Promise<string>
  readonly random: (bytes: number) => string
}

/** Beyond the time limit of the operation, within which the other process answers. */
const answer_margin_ms = 5_000

/** Epoch milliseconds of the system clock; the clock of the site may be stopped by a test. */
export const readEpoch_ms = (): number => performance.timeOrigin + performance.now()

/** Requests operations for `role`. Throws the refusal of the other role. */
export function roleCaller(directory: RoleDirectory, role: string): RoleCaller {
  return async (target, input, trace, options = {}) => {
    const { delegated, signal, idempotency_key } = options
    if (signal?.aborted) throw abortRefusal(signal)
    const route = findRoleRoute(directory, target.role)
    if (route.via === 'process') {
      const begun = childTrace(trace, directory.random)
      return callInProcess(route.context, target, { ...options, role }, input, begun)
    }
    const token = delegated ?? (await directory.serviceToken(role, target.role))
    const send = (request: SocketRequest) => sendElsewhere(directory, route, role, target.role, request)
    return callElsewhere(send, target, { token, signal, idempotency_key }, input, trace)
  }
}

/** To another process, as the route says. Throws `Refusal('unavailable')` without a complete response. */
export async function sendElsewhere(
  { folder, remote }: Pick<RoleDirectory, 'folder' | 'remote'>,
  route: Exclude<RoleRoute, { via: 'process' }>,
  requesting: string,
  target: string,
  request: SocketRequest,
): Promise<RoleResponse> {
  if (route.via === 'socket') return await requestOverSocket(roleSocketFile(folder, target), request)
  if (!remote) throw new TypeError(`the role ${target} has a URL, and nothing requests roles at URLs`)
  return await remote.request(requesting, target, route.url, request)
}

async function callInProcess(
  context: RoleContext,
  target: AddressedOperation,
  { role, delegated, signal = neverAborted, idempotency_key }: RoleCallOptions & { readonly role: string },
  input: RoleCallInput,
  trace: Trace,
) {
  const { params, query, body } = splitInput(target.operation, input)
  const request: Omit<OperationRequest, 'signal'> = {
    ...emptyRequest,
    params,
    query,
    body,
    trace,
    idempotency_key: target.operation.creates ? idempotency_key : undefined,
    ...(delegated === undefined ? {} : { credential: { subject_token: delegated } }),
  }
  const caller = await admitInProcess(context, target, role, delegated)
  const begun: SpanStart = {
    trace,
    name: target.address,
    kind: 'internal',
    attributes: { 'platform.caller_role': role },
  }
  const failed = (answer: OperationResponse | Refusal) => isRefusal(answer) && answer.row.status >= 500
  const answer = await runInSpan(context.spans, begun, readEpoch_ms, failed, () =>
    withinTimeLimit({ ...context, operation: target.operation, signal }, (ending) =>
      performOperation(context, target, caller, { ...request, signal: ending }),
    ),
  )
  if (isRefusal(answer)) throw answer
  return answer.body
}

const neverAborted = new AbortController().signal

/** As strict as between processes, so that no call is missing when the roles run in separate processes. */
async function admitInProcess(
  context: RoleContext,
  target: AddressedOperation,
  role: string,
  delegated: string | undefined,
): Promise<Caller> {
  if (delegated !== undefined) {
    const caller = await admitCaller(context, target, { bearer: delegated, isLocal: true })
    if (isRefusal(caller)) throw caller
    return caller
  }
  if (!context.role_calls.get(role)?.has(target.address))
    throw refuse('forbidden', `the role ${role} does not request ${target.address}`)
  return serviceCaller(role)
}

async function callElsewhere(
  send: (request: SocketRequest) => Promise<RoleResponse>,
  target: AddressedOperation,
  { token, signal, idempotency_key }: Pick<RoleCallOptions, 'signal' | 'idempotency_key'> & { readonly token: string },
  input: RoleCallInput,
  trace: Trace,
) {
  const { path, query, body } = splitInput(target.operation, input)
  const search = new URLSearchParams(query).toString()
  const answer = await send({
    method: target.operation.method,
    path: search ? `${path}?${search}` : path,
    headers: {
      authorization: `Bearer ${token}`,
      ...traceHeaders(trace),
      ...(idempotency_key !== undefined && { 'idempotency-key': idempotency_key }),
    },
    text: body === undefined ? '' : JSON.stringify(body),
    timeout_ms: timeLimitOf(target.operation) + answer_margin_ms,
    signal,
  })
  if (answer.status >= 400) throw refusalFromProblem(answer.body, answer.status)
  return target.operation.output.parse(answer.body)
}

/** Throws for an operation without a path, in this process as well as over a socket. */
function splitInput(operation: AnyOperation, input: RoleCallInput) {
  const path = fillPath(operation, input)
  const inPath = pathParameters(operation.path)
  const params = Object.fromEntries(inPath.map((name) => [name, String(input[name])]))
  const rest = Object.entries(input).filter(([name, value]) => !inPath.includes(name) && value !== undefined)
  if (hasBody(operation.method)) return { path, params, query: {}, body: Object.fromEntries(rest) }
  const query = Object.fromEntries(rest.map(([name, value]) => [name, String(value)]))
  return { path, params, query, body: undefined }
}
