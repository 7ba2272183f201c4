// What whoever reaches the public listener itself is told of the service, beside the public prefix.

import { isRefusal, refuse } from '../../kernel/error/errors.ts'
import { problemOf } from '../../kernel/error/problem.ts'
import { admitCaller } from '../../kernel/identity/admit-caller.ts'
import { type OperationRequest, performOperation, type RoleContext } from '../../kernel/operation/perform-operation.ts'
import { operationsOf } from '../../kernel/role/built-in-operations.ts'
import { newTrace } from '../../kernel/telemetry/trace.ts'
import { proxy } from '../../roles/proxy/role.ts'
import type { ProxyServiceEndpoint } from '../../roles/proxy/serving/request-dispatcher.ts'

const operationAddresses: Readonly<Record<ProxyServiceEndpoint, string>> = {
  health: 'proxy.service.live',
  info: 'proxy.service.info',
}

const timeout_ms = 5_000

/** By the same operations as any service, asked by nobody in particular. */
export async function performServiceRequest(
  workshop: RoleContext,
  about: ProxyServiceEndpoint,
): Promise<{ readonly status: number; readonly body: string }> {
  const trace = newTrace(workshop.environment.random)
  const answer = await performServiceOperation(workshop, about, {
    ...emptyRequest,
    trace,
    signal: AbortSignal.timeout(timeout_ms),
  })
  if (!isRefusal(answer)) return { status: answer.status, body: JSON.stringify(answer.body) }
  return { status: answer.row.status, body: JSON.stringify(problemOf(answer, trace.trace_id)) }
}

const emptyRequest: Omit<OperationRequest, 'trace' | 'signal'> = {
  params: {},
  query: {},
  body: undefined,
  accepts: [],
  if_match: undefined,
  idempotency_key: undefined,
  last_event_id: undefined,
}

async function performServiceOperation(workshop: RoleContext, about: ProxyServiceEndpoint, request: OperationRequest) {
  const target = operationsOf(proxy).find(({ address }) => address === operationAddresses[about])
  if (!target) return refuse('not_found', 'there is no such path')
  const caller = await admitCaller(workshop, target.operation, undefined)
  return isRefusal(caller) ? caller : await performOperation(workshop, target, caller, request)
}
