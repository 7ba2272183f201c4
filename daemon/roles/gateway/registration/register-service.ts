// Registers a service or renews its registration: admits the name, reads its service-info where it must, claims its objects.
import { canonicalDigest } from '../../../kernel/encoding/canonical-json.ts'
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { max_registered_objects, objectClaims } from '../object-claim/model.ts'
import { withdrawService } from '../object-claim/withdraw-service.ts'
import { type ServiceInfoFault, type ServiceInfoReading, siteRoutingPart } from '../parts.ts'
import { type ServiceInfo, type StoredService, serviceInfo, services } from '../registered-service/model.ts'
import { isExpired } from '../registered-service/rules.ts'
import { settings } from '../settings.ts'
import { replaceRegistration } from './replace-registration.ts'
import {
  checkName,
  checkObjects,
  isFresh,
  isReservedName,
  isSameService,
  mayRenew,
  type RegistrationRequest,
  type RegistrationTerms,
} from './rules.ts'

export type RegistrationAnswer = {
  readonly outcome: 'registered' | 'changed' | 'renewed'
  readonly service: StoredService
}

/** `read`: called at most once, and only for a requester that may use the name. */
export async function registerService(
  call: Call,
  request: RegistrationRequest,
  read: () => Promise<ServiceInfoReading>,
): Promise<RegistrationAnswer | Refusal> {
  const { registrants, stdio_servers } = call.settings(settings)
  const routing = call.part(siteRoutingPart)
  const terms = { registrants, stdio_servers: new Set(Object.keys(stdio_servers)), routing }
  const current = await findCurrent(call, request.name)
  const objection = checkName(request, terms) ?? (current && checkHolder(current.value, request))
  if (objection) return objection
  if (!current && (await isFull(call, request.name, terms)))
    return refuse('rate_limited', 'the registry has no place for a further service')
  // The profile's own reading keeps it: a holder of a token must not keep one that no longer answers.
  if (current?.value.source === 'pull' && request.source === 'push')
    return { outcome: 'renewed', service: current.value }
  // Only its registrant changes a service: the other source moves the end alone.
  if (current && (isFresh(current.value, request, call.now()) || current.value.source !== request.source))
    return await renew(call, current.value, request)
  const info = readServiceInfo(await read(), request.name)
  if ('fault' in info) {
    if (current && info.fault === 'service_unreachable' && isSameService(current.value, request))
      return await renew(call, current.value, request, { state: 'unverified', last_error: describeFault(info) })
    return refuse('invalid', `the service cannot be registered: ${info.reason}`, [
      { path: info.fault === 'service_info_invalid' ? 'name' : 'url', message: describeFault(info) },
    ])
  }
  const fixed = checkObjects(request.name, info.objects, terms.routing) ?? (await checkRoom(call, info, current?.value))
  if (fixed) return fixed
  const info_sha256 = canonicalDigest(info)
  if (current && isSameService(current.value, request) && current.value.info_sha256 === info_sha256)
    return await renew(call, current.value, request, { state: 'live', info_ts: call.now() })
  return await replaceRegistration(call, current?.value, request, { ...info, info_sha256, info_ts: call.now() })
}

export function describeFault({ fault, reason }: ServiceInfoFault): string {
  return `${fault}: ${reason}`
}

/** The registration that has not ended. One that has is removed first, so that its objects are free. */
async function findCurrent(call: Call, name: string): Promise<Doc<StoredService> | undefined> {
  for (;;) {
    const found = await call.store(services).find(name)
    if (!found || !isExpired(found.value, call.now())) return found
    await withdrawService(call, found, 'expired')
  }
}

function checkHolder(current: StoredService, request: RegistrationRequest): Refusal | undefined {
  if (!mayRenew(current, request))
    return refuse('already_exists', `${request.name} is registered by another subject, until its registration ends`)
  if (current.state === 'claiming') return refuse('conflict', `another registration of ${request.name} is under way`)
  return undefined
}

async function isFull(call: Call, name: string, terms: RegistrationTerms): Promise<boolean> {
  if (isReservedName(name, terms)) return false
  return (await call.store(services).count()) >= call.settings(settings).max_services
}

/** A change of any service makes a new table of all objects. */
async function checkRoom(
  call: Call,
  info: ServiceInfo,
  current: StoredService | undefined,
): Promise<Refusal | undefined> {
  const others = (await call.store(objectClaims).count()) - (current?.objects.length ?? 0)
  if (others + info.objects.length <= max_registered_objects) return undefined
  return refuse('rate_limited', `the registry has no place for ${info.objects.length} further objects`)
}

/** The end of the registration alone: no audit record for each heartbeat. */
async function renew(
  call: Call,
  seen: StoredService,
  { ttl_seconds, source, subject }: RegistrationRequest,
  change: Partial<Pick<StoredService, 'state' | 'last_error' | 'info_ts'>> = {},
): Promise<RegistrationAnswer | Refusal> {
  const isOwn = source === seen.source && subject === seen.registered_by
  try {
    const { doc, answer } = await call.store(services).update(seen.name, ({ value }) => {
      // It has been registered again meanwhile, or its end has come.
      if (value.attempt !== seen.attempt || isExpired(value, call.now()))
        return { answer: refuse('conflict', `another registration of ${seen.name} came first`) }
      const { last_error: _former, ...kept } = value
      const base = change.state === 'live' ? kept : value
      const next = { ...base, ...change, ...(isOwn ? { ttl_s: ttl_seconds } : {}) }
      const end = call.now() + ttl_seconds * 1_000
      return { next: { ...next, ends_ts: isOwn ? end : Math.max(value.ends_ts, end) }, answer: undefined }
    })
    if (answer) return answer
    if (change.state === 'unverified' && seen.state === 'live') {
      const { trace_id } = call.trace
      call.log.warn('gateway.service.unverified', { trace_id, name: seen.name, reason: change.last_error })
    }
    return { outcome: 'renewed', service: doc.value }
  } catch (error) {
    if (isRefusal(error) && error.code === 'not_found')
      return refuse('conflict', `the registration of ${seen.name} has just ended`)
    throw error
  }
}

/** Of the named service; its other fields are dropped. */
function readServiceInfo(reading: ServiceInfoReading, name: string): ServiceInfo | ServiceInfoFault {
  if ('fault' in reading) return reading
  const parsed = serviceInfo.safeParse(reading.value)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    const where = issue?.path.filter((step) => typeof step === 'string').join('.') ?? ''
    return { fault: 'service_info_invalid', reason: `its service-info is wrong${where ? ` in ${where}` : ''}` }
  }
  if (parsed.data.name !== name)
    return { fault: 'service_info_invalid', reason: 'its service-info has another name than the registration' }
  const present = Object.entries(parsed.data).filter(([, value]) => value !== undefined)
  return Object.fromEntries(present) as ServiceInfo
}
