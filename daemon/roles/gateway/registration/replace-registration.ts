// Writes a first registration, or one whose service has changed: objects first, then their claims, then the whole.
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { claimObjects } from '../object-claim/claim-objects.ts'
import { releaseClaims } from '../object-claim/withdraw-service.ts'
import { siteRoutingPart } from '../parts.ts'
import { type ServiceInfo, type StoredService, services } from '../registered-service/model.ts'
import type { RegistrationAnswer } from './register-service.ts'
import { findFixedOwner, type RegistrationRequest, refuseObject } from './rules.ts'

/** Longer than an operation may take: a registration that ends without a trace leaves its name free after that. */
const claiming_ms = 60_000

type ReadService = ServiceInfo & Pick<StoredService, 'info_sha256' | 'info_ts'>

export async function replaceRegistration(
  call: Call,
  current: StoredService | undefined,
  request: RegistrationRequest,
  info: ReadService,
): Promise<RegistrationAnswer | Refusal> {
  const next = buildService(call, current, request, info)
  const { name, attempt } = next
  const begun = await begin(call, current, next)
  if (begun) return begun
  const routing = call.part(siteRoutingPart)
  const conflict = await claimObjects(
    call,
    name,
    info.objects.filter(
      (object) => !current?.objects.includes(object) && findFixedOwner(object, routing) === undefined,
    ),
  )
  const outcome = current ? 'changed' : 'registered'
  const { url, source, registered_by, objects } = next
  const audit = [call.audited(`gateway.registration.${outcome}`, name, { url, source, registered_by, objects })]
  const refusal = conflict
    ? ((await giveUp(call, current, next)) ?? refuseObject(conflict))
    : await change(call, name, (value) => (value.attempt === attempt ? next : undefined), audit)
  // Of objects that it no longer has, or did not get.
  if (conflict || current) await releaseClaims(call, name)
  const { trace_id } = call.trace
  if (conflict) call.log.warn('gateway.registration.conflict', { trace_id, name, url, ...conflict })
  if (refusal) return refusal
  call.log.info(`gateway.registration.${outcome}`, { trace_id, name, url, source, objects: objects.length })
  return { outcome, service: next }
}

function buildService(
  call: Call,
  current: StoredService | undefined,
  { name, url, component_kind, source, subject, ttl_seconds }: RegistrationRequest,
  info: ReadService,
): StoredService {
  return {
    ...info,
    ...{ tenant_id: call.site.tenant_id, name, url, component_kind, source },
    ...{ state: 'live', claiming: [], attempt: call.random(8), ttl_s: ttl_seconds },
    registered_by: subject,
    registered_ts: current?.registered_ts ?? call.now(),
    ends_ts: call.now() + ttl_seconds * 1_000,
  }
}

/** Writes which objects are about to be claimed; what the service has so far stays in force. */
async function begin(
  call: Call,
  current: StoredService | undefined,
  next: StoredService,
): Promise<Refusal | undefined> {
  const { name, attempt, objects: claiming } = next
  if (current)
    return await change(call, name, (value) =>
      value.attempt === current.attempt ? { ...value, claiming, attempt } : undefined,
    )
  const ends_ts = call.now() + claiming_ms
  const first: StoredService = { ...next, state: 'claiming', objects: [], claiming, ends_ts }
  const created = await call.store(services).create(name, first)
  return created === 'exists' ? refuseLater(name) : undefined
}

/** What was in force before stays so; a first registration is gone. */
async function giveUp(
  call: Call,
  current: StoredService | undefined,
  { name, attempt }: StoredService,
): Promise<Refusal | undefined> {
  if (current)
    return await change(call, name, (value) => (value.attempt === attempt ? { ...value, claiming: [] } : undefined))
  const begun = await call.store(services).find(name)
  if (begun?.value.attempt !== attempt) return refuseLater(name)
  await call.store(services).remove(name, undefined, begun.version)
  return undefined
}

/** `rule`: undefined where a later registration has begun. */
async function change(
  call: Call,
  name: string,
  rule: (value: StoredService) => StoredService | undefined,
  audit: Parameters<Call['record']>[0] = [],
): Promise<Refusal | undefined> {
  try {
    const { answer } = await call.store(services).update(name, ({ value }) => {
      const next = rule(value)
      return next ? { next, answer: undefined, audit } : { answer: refuseLater(name) }
    })
    return answer
  } catch (error) {
    if (isRefusal(error) && error.code === 'not_found') return refuseLater(name)
    throw error
  }
}

function refuseLater(name: string): Refusal {
  return refuse('conflict', `another registration of ${name} came first`)
}
