// Circuit breakers for calls of tools: one for each caller of a service, so that nobody opens it for others, and one for the
// connections to a service, which opens once those of several callers have failed.
import { CircuitBreaker } from '../../kernel/network/circuit-breaker.ts'
import type { BreakerState } from '../../roles/gateway/service-tool/parts.ts'

/** Of all services; the one not used for longest ends first. */
const max_callers = 1_024

/** `connection`: no call was made. `call`: the service had the call of this caller. */
export type FailedStage = 'connection' | 'call'

/** An admitted call: exactly one of these ends it. */
export interface AdmittedCall {
  succeed(): void
  fail(stage: FailedStage): void
  leave(): void
}

/** A service at another URL is another one. */
export type CalledService = { readonly service: string; readonly url: string; readonly caller: string }

type ServiceBreaker = {
  readonly url: string
  readonly breaker: CircuitBreaker
  /** Since the last success: a caller counts once, so that none opens it alone. */
  readonly failed: Set<string>
}

export class CallBreakers {
  readonly #now: () => number
  readonly #services = new Map<string, ServiceBreaker>()
  /** In the order of use, by service and caller. */
  readonly #callers = new Map<string, { readonly of: CalledService; readonly breaker: CircuitBreaker }>()

  /** `now`: milliseconds that never go back. */
  constructor(now: () => number) {
    this.#now = now
  }

  /** Returns the milliseconds until the next attempt instead of an admission. */
  admit(called: CalledService): AdmittedCall | number {
    const ofService = this.#serviceBreaker(called)
    const ofCaller = this.#callerBreaker(called)
    const wait_ms = ofCaller.admit()
    if (wait_ms !== undefined) return wait_ms
    const shared_wait_ms = ofService.breaker.admit()
    if (shared_wait_ms !== undefined) {
      ofCaller.leave()
      return shared_wait_ms
    }
    return this.#admission(ofService, ofCaller, called.caller)
  }

  /** Of the services that have an open one. */
  listOpen(): ReadonlyMap<string, BreakerState> {
    const states = new Map<string, BreakerState>()
    for (const [service, { breaker }] of this.#services)
      if (breaker.isOpen) states.set(service, { isOpen: true, callers: 0 })
    for (const { of, breaker } of this.#callers.values()) {
      if (!breaker.isOpen || this.#services.get(of.service)?.url !== of.url) continue
      const { isOpen, callers } = states.get(of.service) ?? { isOpen: false, callers: 0 }
      states.set(of.service, { isOpen, callers: callers + 1 })
    }
    return states
  }

  #admission({ breaker, failed }: ServiceBreaker, ofCaller: CircuitBreaker, caller: string): AdmittedCall {
    return {
      succeed() {
        failed.clear()
        breaker.succeed()
        ofCaller.succeed()
      },
      fail(stage) {
        ofCaller.fail()
        // The trial of an open breaker has its verdict, whichever caller made it.
        if (breaker.isOpen) return stage === 'connection' ? breaker.fail() : breaker.succeed()
        if (stage === 'call' || failed.has(caller)) return breaker.leave()
        failed.add(caller)
        breaker.fail()
      },
      leave() {
        ofCaller.leave()
        breaker.leave()
      },
    }
  }

  #serviceBreaker({ service, url }: CalledService): ServiceBreaker {
    const known = this.#services.get(service)
    if (known?.url === url) return known
    const first = { url, breaker: new CircuitBreaker(this.#now), failed: new Set<string>() }
    this.#services.set(service, first)
    return first
  }

  #callerBreaker({ service, url, caller }: CalledService): CircuitBreaker {
    const key = JSON.stringify([service, url, caller])
    const known = this.#callers.get(key) ?? { of: { service, url, caller }, breaker: new CircuitBreaker(this.#now) }
    this.#callers.delete(key)
    this.#callers.set(key, known)
    const [oldest] = this.#callers.keys()
    if (this.#callers.size > max_callers && oldest !== undefined) this.#callers.delete(oldest)
    return known.breaker
  }
}
