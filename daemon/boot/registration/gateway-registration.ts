// Keeps a role registered with the gateway: at its start, again after half of each lifetime, and no longer once it stops.
import type { Call } from '../../kernel/operation/call.ts'
import type { Worker } from '../../kernel/role/role.ts'
import { counter } from '../../kernel/telemetry/metrics.ts'
import type { ServiceRegistrar, ServiceRegistration } from '../../shared/service-registration/service-registration.ts'
import { stop_grace_ms, waitAtMost } from '../stop-limits.ts'

export const registrationTotal = counter(
  'platform_gateway_registration_total',
  'Registrations of the role with the gateway, and failures',
  { outcome: ['registered', 'refused', 'unreachable', 'no_token', 'deregistered'] },
)

/** How often the worker looks whether a renewal is due: a clock that is set forward is noticed then. */
const check_interval_ms = 1_000
/** After a failure: a gateway that begins after the role, or is away for a moment, must not be without it for half of a long lifetime. */
const retry_interval_ms = 15_000
/** For the end of a registration that the gateway may not have: one that hangs must not hold up a stop. */
const unsure_limit_ms = 2_000

/** `none`: why there is no token. */
export type ServiceToken = { readonly token: string } | { readonly none: string }

export type GatewayRegistrationOptions = {
  readonly registration: ServiceRegistration
  readonly registrar: ServiceRegistrar
  /** Within a time limit; never rejects. */
  readonly findToken: () => Promise<ServiceToken>
  /** Whether a stop ends the registration. */
  readonly deregisters: boolean
}

type RegistrationFailure = { readonly outcome: 'refused' | 'unreachable' | 'no_token'; readonly reason: string }

/** Failures are counted, and logged once for as long as they last: nothing of the role depends on the gateway. */
export class GatewayRegistration {
  readonly worker: Worker
  readonly #options: GatewayRegistrationOptions
  readonly #leaving = new AbortController()
  #beating: Promise<void> | undefined
  #last_ms: number | undefined
  #isFailing = false
  #mayBeRegistered = false
  #isCutShort = false

  constructor(options: GatewayRegistrationOptions) {
    this.#options = options
    const run = (call: Call) => this.#renewWhenDue(call)
    this.worker = { name: 'gateway-registration', when: { every_ms: check_interval_ms }, run }
  }

  /** Ends the registration, as far as the gateway answers; later runs of the worker do nothing. Never rejects. */
  async leave(call: Call): Promise<void> {
    const { registration, registrar, findToken, deregisters } = this.#options
    this.#leaving.abort()
    await this.#beating?.catch(() => undefined)
    if (!deregisters || !(this.#mayBeRegistered || this.#isCutShort)) return
    const found = await findToken()
    // Without a token or an answer, the lifetime ends it.
    if ('none' in found) return call.count(registrationTotal, { outcome: 'no_token' })
    const limit = this.#mayBeRegistered ? [] : [AbortSignal.timeout(unsure_limit_ms)]
    const signal = AbortSignal.any([call.signal, ...limit])
    const { failed = 'deregistered' } = await registrar.deregister(registration.name, found.token, signal)
    call.count(registrationTotal, { outcome: failed })
  }

  async #renewWhenDue(call: Call): Promise<void> {
    const now = call.now()
    const since_ms = now - (this.#last_ms ?? Number.NEGATIVE_INFINITY)
    const half_ms = this.#options.registration.ttl_seconds * 500
    const isEarly = since_ms >= 0 && since_ms < (this.#isFailing ? Math.min(half_ms, retry_interval_ms) : half_ms)
    if (isEarly || this.#leaving.signal.aborted) return
    this.#last_ms = now
    this.#beating = this.#renew(call)
    await this.#beating
  }

  async #renew(call: Call): Promise<void> {
    const failure = await this.#register(call)
    // A stop has cut it short: that is not a failure of the gateway, which may have taken the registration.
    if (failure && (this.#leaving.signal.aborted || call.signal.aborted)) {
      this.#isCutShort = failure.outcome === 'unreachable'
      return
    }
    call.count(registrationTotal, { outcome: failure?.outcome ?? 'registered' })
    const { trace_id } = call.trace
    if (failure && !this.#isFailing) call.log.warn('platform.gateway.unregistered', { trace_id, ...failure })
    if (!failure && (this.#isFailing || !this.#mayBeRegistered)) {
      const { name, url } = this.#options.registration
      call.log.info('platform.gateway.registered', { trace_id, name, url })
    }
    this.#isFailing = failure !== undefined
    this.#mayBeRegistered ||= failure === undefined
  }

  async #register(call: Call): Promise<RegistrationFailure | undefined> {
    const { registration, registrar, findToken } = this.#options
    const found = await findToken()
    if ('none' in found) return { outcome: 'no_token', reason: found.none }
    const signal = AbortSignal.any([call.signal, this.#leaving.signal])
    const { failed, reason } = await registrar.register(registration, found.token, signal)
    return failed && { outcome: failed, reason }
  }
}

/** Returns a function that ends the registration, once, within the grace of a stop; it never rejects. */
export function registrationEnd(
  registration: GatewayRegistration | undefined,
  newCall: (signal: AbortSignal) => Call,
): () => Promise<void> {
  let ended: Promise<void> | undefined
  const end = async () => {
    const ending = new AbortController()
    await waitAtMost(stop_grace_ms, registration?.leave(newCall(ending.signal))).finally(() => ending.abort())
  }
  return async () => {
    if (registration) ended ??= end()
    await ended
  }
}
