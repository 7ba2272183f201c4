// Answers the service endpoints of the public listener, which are outside the public prefix.

import { isRefusal, refuse } from '../../kernel/error/errors.ts'
import { problemOf } from '../../kernel/error/problem.ts'
import { admitCaller } from '../../kernel/identity/admit-caller.ts'
import { emptyRequest, performOperation } from '../../kernel/operation/perform-operation.ts'
import type { OperationRequest, RoleContext } from '../../kernel/operation/role-context.ts'
import { operationsOf } from '../../kernel/role/built-in-operations.ts'
import { newTrace } from '../../kernel/telemetry/trace.ts'
import { proxy } from '../../roles/proxy/role.ts'
import type { ProxyServiceEndpoint } from '../../roles/proxy/serving/request-dispatcher.ts'

const operationAddresses: Readonly<Record<ProxyServiceEndpoint, string>> = {
  health: 'proxy.service.live',
  info: 'proxy.service.info',
}

const timeout_ms = 5_000

/** Performs the same operations as any service, for an anonymous caller. */
export async function performServiceRequest(
  context: RoleContext,
  endpoint: ProxyServiceEndpoint,
): Promise<{ readonly status: number; readonly body: string }> {
  const trace = newTrace(context.environment.random)
  const response = await performServiceOperation(context, endpoint, {
    ...emptyRequest,
    trace,
    signal: AbortSignal.timeout(timeout_ms),
  })
  if (!isRefusal(response)) return { status: response.status, body: JSON.stringify(response.body) }
  return { status: response.row.status, body: JSON.stringify(problemOf(response, trace.trace_id)) }
}

async function performServiceOperation(
  context: RoleContext,
  endpoint: ProxyServiceEndpoint,
  request: OperationRequest,
) {
  const target = operationsOf(proxy).find(({ address }) => address === operationAddresses[endpoint])
  if (!target) return refuse('not_found', 'the path does not exist')
  const caller = await admitCaller(context, target, { bearer: undefined, isLocal: false })
  return isRefusal(caller) ? caller : await performOperation(context, target, caller, request)
}
