// One role asks another: in this process by a call, elsewhere on the site over its local socket; the asker cannot tell.

import { serviceCaller } from '../kernel/admission.ts'
import { isRefused, type Refused, refuse } from '../kernel/errors.ts'
import { permits } from '../kernel/identity.ts'
import { type Answer, perform, type Request, type Workshop } from '../kernel/invoke.ts'
import { type Addressed, type AnyOperation, hasBody, pathParameters } from '../kernel/operation.ts'
import { refusedOf } from '../kernel/problem.ts'
import { type Begun, inSpan } from '../kernel/spans.ts'
import { childOf, type Trace, traceHeaders } from '../kernel/trace.ts'
import { addressOf } from './operations.ts'
import { type SiteFolder, socketOf } from './site-folder.ts'
import { askSocket } from './socket-request.ts'

type Input = Readonly<Record<string, unknown>>

/** `trace`: of the work that asks. What is asked for goes on in it, with a span of its own. */
export type Ask = (operation: AnyOperation, input: Input, trace: Trace) => Promise<unknown>

export type Office = {
  readonly folder: SiteFolder
  /** The workshops of the roles that run in this process. */
  readonly workshops: ReadonlyMap<string, Workshop>
  /** By the own key of the role that asks, for the one that is asked. */
  readonly serviceToken: (role: string, target: string) => Promise<string>
  readonly random: (bytes: number) => string
}

const patience_ms = 30_000

/** Of a clock that measures, unlike the site's, which a test may stop. */
export const epoch_ms = (): number => performance.timeOrigin + performance.now()

/** Asks as the service identity of `asker`. A refusal is thrown as the `Refused` that it was. */
export function asking(office: Office, asker: string): Ask {
  return async (operation, input, trace) => {
    const target = await addressOf(operation)
    const shop = office.workshops.get(target.role)
    if (shop) return here(shop, target, asker, input, childOf(trace, office.random))
    return elsewhere(office, target, asker, input, trace)
  }
}

async function here(shop: Workshop, target: Addressed, asker: string, input: Input, trace: Trace) {
  const request: Request = {
    ...split(target.operation, input),
    accepts: [],
    if_match: undefined,
    idempotency_key: undefined,
    last_event_id: undefined,
    trace,
    signal: AbortSignal.timeout(patience_ms),
  }
  const caller = serviceCaller(asker)
  // As strict as between processes, so that running apart never finds a permission missing.
  if (!permits(caller.permissions, target.operation.allow))
    throw refuse('forbidden', `a service may not ${target.address}`)
  const begun: Begun = { trace, name: target.address, kind: 'internal', attributes: { 'platform.asker': asker } }
  const failed = (answer: Answer | Refused) => isRefused(answer) && answer.row.status >= 500
  const answer = await inSpan(shop.spans, begun, epoch_ms, failed, () => perform(shop, target, caller, request))
  if (isRefused(answer)) throw answer
  return answer.body
}

async function elsewhere(office: Office, target: Addressed, asker: string, input: Input, trace: Trace) {
  const { params, query, body } = split(target.operation, input)
  const inPath = target.operation.path.replaceAll(/\{([a-z_]+)\}/g, (_, name: string) =>
    encodeURIComponent(params[name] ?? ''),
  )
  const search = new URLSearchParams(query).toString()
  const answer = await askSocket(socketOf(office.folder, target.role), {
    method: target.operation.method,
    path: search ? `${inPath}?${search}` : inPath,
    headers: { authorization: `Bearer ${await office.serviceToken(asker, target.role)}`, ...traceHeaders(trace) },
    text: body === undefined ? '' : JSON.stringify(body),
    timeout_ms: patience_ms,
  })
  if (answer.status >= 400) throw refusedOf(answer.body, answer.status)
  return target.operation.output.parse(answer.body)
}

function split(operation: AnyOperation, input: Input) {
  const inPath = pathParameters(operation.path)
  const params = Object.fromEntries(inPath.map((name) => [name, String(input[name])]))
  const rest = Object.entries(input).filter(([name, value]) => !inPath.includes(name) && value !== undefined)
  if (hasBody(operation.method)) return { params, query: {}, body: Object.fromEntries(rest) }
  return { params, query: Object.fromEntries(rest.map(([name, value]) => [name, String(value)])), body: undefined }
}
