// One role asks another: in this process by a call, elsewhere on the site over its local socket; the asker cannot tell.

import { isRefusal, type Refusal, refuse } from '../kernel/error/errors.ts'
import { refusalFromProblem } from '../kernel/error/problem.ts'
import { serviceCaller } from '../kernel/identity/admit-caller.ts'
import { permits } from '../kernel/identity/identity.ts'
import { type AddressedOperation, type AnyOperation, hasBody, pathParameters } from '../kernel/operation/operation.ts'
import {
  emptyRequest,
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

/** `trace`: of the work that asks. What is asked for goes on in it, with a span of its own. */
export type RoleCaller = (operation: AnyOperation, input: RoleCallInput, trace: Trace) => Promise<unknown>

export type RoleDirectory = {
  readonly folder: SiteFolder
  /** The workshops of the roles that run in this process. */
  readonly contexts: ReadonlyMap<string, RoleContext>
  /** By the own key of the role that asks, for the one that is asked. */
  readonly serviceToken: (role: string, target: string) => Promise<string>
  readonly random: (bytes: number) => string
}

const timeout_ms = 30_000

/** Of a clock that measures, unlike the site's, which a test may stop. */
export const readEpoch_ms = (): number => performance.timeOrigin + performance.now()

/** Asks as the service identity of `asker`. A refusal is thrown as the `Refusal` that it was. */
export function roleCaller(office: RoleDirectory, asker: string): RoleCaller {
  return async (operation, input, trace) => {
    const target = await findAddressedOperation(operation)
    const shop = office.contexts.get(target.role)
    if (shop) return callInProcess(shop, target, asker, input, childTrace(trace, office.random))
    return callOverSocket(office, target, asker, input, trace)
  }
}

async function callInProcess(
  shop: RoleContext,
  target: AddressedOperation,
  asker: string,
  input: RoleCallInput,
  trace: Trace,
) {
  const request: OperationRequest = {
    ...emptyRequest,
    ...splitInput(target.operation, input),
    trace,
    signal: AbortSignal.timeout(timeout_ms),
  }
  const caller = serviceCaller(asker)
  // As strict as between processes, so that running apart never finds a permission missing.
  if (!permits(caller.permissions, target.operation.allow))
    throw refuse('forbidden', `a service may not ${target.address}`)
  const begun: SpanStart = { trace, name: target.address, kind: 'internal', attributes: { 'platform.asker': asker } }
  const failed = (answer: OperationResponse | Refusal) => isRefusal(answer) && answer.row.status >= 500
  const answer = await runInSpan(shop.spans, begun, readEpoch_ms, failed, () =>
    performOperation(shop, target, caller, request),
  )
  if (isRefusal(answer)) throw answer
  return answer.body
}

async function callOverSocket(
  office: RoleDirectory,
  target: AddressedOperation,
  asker: string,
  input: RoleCallInput,
  trace: Trace,
) {
  const { params, query, body } = splitInput(target.operation, input)
  const inPath = target.operation.path.replaceAll(/\{([a-z_]+)\}/g, (_, name: string) =>
    encodeURIComponent(params[name] ?? ''),
  )
  const search = new URLSearchParams(query).toString()
  const answer = await requestOverSocket(roleSocketFile(office.folder, target.role), {
    method: target.operation.method,
    path: search ? `${inPath}?${search}` : inPath,
    headers: { authorization: `Bearer ${await office.serviceToken(asker, target.role)}`, ...traceHeaders(trace) },
    text: body === undefined ? '' : JSON.stringify(body),
    timeout_ms: timeout_ms,
  })
  if (answer.status >= 400) throw refusalFromProblem(answer.body, answer.status)
  return target.operation.output.parse(answer.body)
}

function splitInput(operation: AnyOperation, input: RoleCallInput) {
  const inPath = pathParameters(operation.path)
  const params = Object.fromEntries(inPath.map((name) => [name, String(input[name])]))
  const rest = Object.entries(input).filter(([name, value]) => !inPath.includes(name) && value !== undefined)
  if (hasBody(operation.method)) return { params, query: {}, body: Object.fromEntries(rest) }
  return { params, query: Object.fromEntries(rest.map(([name, value]) => [name, String(value)])), body: undefined }
}
