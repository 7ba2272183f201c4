// What whoever reaches the public listener itself is told of the service, beside the public prefix.
import { admit } from '../../kernel/admission.ts'
import { operationsOf } from '../../kernel/builtin.ts'
import { isRefused, refuse } from '../../kernel/errors.ts'
import { perform, type Request, type Workshop } from '../../kernel/invoke.ts'
import { problemOf } from '../../kernel/problem.ts'
import { newTrace } from '../../kernel/trace.ts'
import { proxy } from '../../roles/proxy/role.ts'
import type { Pod } from './messages.ts'

const addresses: Readonly<Record<Pod, string>> = { health: 'proxy.service.live', info: 'proxy.service.info' }

const patience_ms = 5_000

/** By the same operations as any service, asked by nobody in particular. */
export async function told(
  workshop: Workshop,
  about: Pod,
): Promise<{ readonly status: number; readonly body: string }> {
  const trace = newTrace(workshop.surroundings.random)
  const answer = await asked(workshop, about, { ...nothing, trace, signal: AbortSignal.timeout(patience_ms) })
  if (!isRefused(answer)) return { status: answer.status, body: JSON.stringify(answer.body) }
  return { status: answer.row.status, body: JSON.stringify(problemOf(answer, trace.trace_id)) }
}

const nothing: Omit<Request, 'trace' | 'signal'> = {
  params: {},
  query: {},
  body: undefined,
  accepts: [],
  if_match: undefined,
  idempotency_key: undefined,
  last_event_id: undefined,
}

async function asked(workshop: Workshop, about: Pod, request: Request) {
  const target = operationsOf(proxy).find(({ address }) => address === addresses[about])
  if (!target) return refuse('not_found', 'there is no such path')
  const caller = await admit(workshop, target.operation, undefined)
  return isRefused(caller) ? caller : await perform(workshop, target, caller, request)
}
