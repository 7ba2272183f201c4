// Registers the services whose URLs the profile names, and renews their registrations as long as they answer.
import { isRefusal } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Worker } from '../../../kernel/role/role.ts'
import { serviceName } from '../../../shared/routing/ingress-settings.ts'
import { registrationTotal } from '../metrics.ts'
import { pullRoundsPart, type ServiceInfoReading, serviceInfoReaderPart } from '../parts.ts'
import { services } from '../registered-service/model.ts'
import { describeFault, registerService } from '../registration/register-service.ts'
import type { RegistrationRequest } from '../registration/rules.ts'
import { settings } from '../settings.ts'

/** Lost intervals after which a service that no longer answers is dropped. */
const lifetime_intervals = 3
const shortest_ttl_s = 10

/** Looks every second, since the interval is a setting. */
export const pull: Worker = { name: 'pull', when: { every_ms: 1_000 }, run }

async function run(call: Call): Promise<void> {
  const { services: urls, pull_interval_s } = call.settings(settings)
  const rounds = call.part(pullRoundsPart)
  const now = call.monotonic()
  if (rounds.last_ms !== undefined && now - rounds.last_ms < pull_interval_s * 1_000) return
  rounds.last_ms = now
  const ttl_seconds = Math.max(shortest_ttl_s, pull_interval_s * lifetime_intervals)
  const origins = [...new Set(urls.map((url) => url.replace(/\/$/, '')))]
  await Promise.all(origins.map((url) => pullService(call, url, ttl_seconds)))
}

async function pullService(call: Call, url: string, ttl_seconds: number): Promise<void> {
  const reading = await call.part(serviceInfoReaderPart)(url, call.signal)
  const failure = await registerRead(call, url, ttl_seconds, reading)
  const known = call.part(pullRoundsPart).failures
  const { trace_id } = call.trace
  if (failure === undefined) known.delete(url)
  else if (known.get(url) !== failure) {
    known.set(url, failure)
    call.log.warn('gateway.pull.failed', { trace_id, url, reason: failure })
  }
}

/** Why the service is not registered or renewed. */
async function registerRead(
  call: Call,
  url: string,
  ttl_seconds: number,
  reading: ServiceInfoReading,
): Promise<string | undefined> {
  if ('fault' in reading) {
    await recordFailure(call, url, describeFault(reading))
    return describeFault(reading)
  }
  const name = serviceName.safeParse((reading.value as { name?: unknown } | null)?.name).data
  if (name === undefined) return 'service_info_invalid: it has no name that routing can use'
  const { subject } = call.caller
  const request: RegistrationRequest = { name, url, ttl_seconds, component_kind: 'library', source: 'pull', subject }
  const answer = await registerService(call, request, async () => reading)
  if (isRefusal(answer)) return answer.message
  call.count(registrationTotal, { outcome: answer.outcome })
  return undefined
}

/** The last state stays until the registration ends, and says why it is not renewed. */
async function recordFailure(call: Call, url: string, last_error: string): Promise<void> {
  const { docs } = await call.store(services).list({ filter: { url, source: 'pull', state: 'live' }, limit: 1 })
  for (const { id } of docs)
    await call
      .store(services)
      .update(id, ({ value }) =>
        value.url === url && value.state === 'live'
          ? { next: { ...value, state: 'unverified', last_error }, answer: undefined }
          : { answer: undefined },
      )
}
