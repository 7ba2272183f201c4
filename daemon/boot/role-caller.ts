// Calls operations of other roles: directly in this process, or over the local socket of another; callers see no difference.

import { isRefusal, type Refusal, refuse } from '../kernel/error/errors.ts'
import { refusalFromProblem } from '../kernel/error/problem.ts'
import { serviceCaller } from '../kernel/identity/admit-caller.ts'
import { permits } from '../kernel/identity/identity.ts'
import { type AddressedOperation, type AnyOperation, hasBody, pathParameters } from '../kernel/operation/operation.ts'
import {
  type OperationRequest,
  type OperationResponse,
  performOperation,
  type RoleContext,
} from '../kernel/operation/perform-operation.ts'
import { runInSpan, type SpanStart } from '../kernel/telemetry/spans.ts'
import { childTrace, type Trace, traceHeaders } from '../kernel/telemetry/trace.ts'
import { requestOverSocket } from './host/socket-request.ts'
import { findAddressedOperation } from './loaded-roles.ts'
import { roleSocketFile, type SiteFolder } from './storage/site-folder.ts'

type RoleCallInput = Readonly<Record<string, unknown>>

/** Calls an operation. `trace`: that of the caller, in which the call gets its own span. */
export type RoleCaller = (operation: AnyOperation, input: RoleCallInput, trace: Trace) => Promise<unknown>

export type RoleDirectory = {
  readonly folder: SiteFolder
  /** Contexts of the roles in this process. */
  readonly contexts: ReadonlyMap<string, RoleContext>
  /** Token signed with the key of the calling role, for the target role. */
  readonly serviceToken: (role: string, target: string) => Promise<string>
  readonly random: (bytes: number) => string
}

const timeout_ms = 30_000

/** Epoch milliseconds of a running clock; a test may stop the site's clock. */
export const readEpoch_ms = (): number => performance.timeOrigin + performance.now()

/** Calls as the service identity of `callerRole`. Throws the `Refusal` of the operation. */
export function roleCaller(directory: RoleDirectory, callerRole: string): RoleCaller {
  return async (operation, input, trace) => {
    const target = await findAddressedOperation(operation)
    const context = directory.contexts.get(target.role)
    if (context) return callInProcess(context, target, callerRole, input, childTrace(trace, directory.random))
    return callOverSocket(directory, target, callerRole, input, trace)
  }
}

async function callInProcess(
  context: RoleContext,
  target: AddressedOperation,
  callerRole: string,
  input: RoleCallInput,
  trace: Trace,
) {
  const request: OperationRequest = {
    ...splitInput(target.operation, input),
    accepts: [],
    if_match: undefined,
    idempotency_key: undefined,
    last_event_id: undefined,
    trace,
    signal: AbortSignal.timeout(timeout_ms),
  }
  const caller = serviceCaller(callerRole)
  // As strict as between processes, so that a missing permission shows in one process too.
  if (!permits(caller.permissions, target.operation.allow))
    throw refuse('forbidden', `a service may not call ${target.address}`)
  const span: SpanStart = {
    trace,
    name: target.address,
    kind: 'internal',
    attributes: { 'platform.asker': callerRole },
  }
  const isFailure = (response: OperationResponse | Refusal) => isRefusal(response) && response.row.status >= 500
  const response = await runInSpan(context.spans, span, readEpoch_ms, isFailure, () =>
    performOperation(context, target, caller, request),
  )
  if (isRefusal(response)) throw response
  return response.body
}

async function callOverSocket(
  directory: RoleDirectory,
  target: AddressedOperation,
  callerRole: string,
  input: RoleCallInput,
  trace: Trace,
) {
  const { params, query, body } = splitInput(target.operation, input)
  const path = target.operation.path.replaceAll(/\{([a-z_]+)\}/g, (_, name: string) =>
    encodeURIComponent(params[name] ?? ''),
  )
  const search = new URLSearchParams(query).toString()
  const response = await requestOverSocket(roleSocketFile(directory.folder, target.role), {
    method: target.operation.method,
    path: search ? `${path}?${search}` : path,
    headers: {
      authorization: `Bearer ${await directory.serviceToken(callerRole, target.role)}`,
      ...traceHeaders(trace),
    },
    text: body === undefined ? '' : JSON.stringify(body),
    timeout_ms,
  })
  if (response.status >= 400) throw refusalFromProblem(response.body, response.status)
  return target.operation.output.parse(response.body)
}

function splitInput(operation: AnyOperation, input: RoleCallInput) {
  const pathNames = pathParameters(operation.path)
  const params = Object.fromEntries(pathNames.map((name) => [name, String(input[name])]))
  const otherEntries = Object.entries(input).filter(([name, value]) => !pathNames.includes(name) && value !== undefined)
  if (hasBody(operation.method)) return { params, query: {}, body: Object.fromEntries(otherEntries) }
  return {
    params,
    query: Object.fromEntries(otherEntries.map(([name, value]) => [name, String(value)])),
    body: undefined,
  }
}
