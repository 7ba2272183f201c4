// A pool of processes for each service that requests are forwarded to, as routing changes.
import type { CoarseClock } from '../../../adapters/forward/http/coarse-clock.ts'
import { parseUpstreamOrigin } from '../../../adapters/forward/http/dial.ts'
import type { UpstreamLimits } from '../../../adapters/forward/http/limits.ts'
import type { PoolLimits } from '../../../adapters/forward/http/pool-members.ts'
import { type UpstreamPool, upstreamPool } from '../../../adapters/forward/http/upstream-pool.ts'
import type { AddressRule } from '../../../adapters/platform/address-rule/address-rule.ts'
import type { ServiceBackends } from '../../shared/routing/site-routing.ts'

export type ServicePoolOptions = {
  readonly clock: CoarseClock
  readonly limits: UpstreamLimits
  readonly pool: PoolLimits
  /** Authorities in PEM instead of the machine's. */
  readonly ca: string | undefined
  /** Of the addresses of a service. */
  readonly ruleOf: (service: string) => AddressRule
}

export class ServicePools {
  readonly #options: ServicePoolOptions
  readonly #pools = new Map<string, UpstreamPool>()
  /** Of each pool: with a thousand services, most are the same at a change. */
  readonly #urls = new Map<string, string>()

  constructor(options: ServicePoolOptions, backends: ServiceBackends) {
    this.#options = options
    this.replace(backends)
  }

  /** By name of the service. */
  get all(): ReadonlyMap<string, UpstreamPool> {
    return this.#pools
  }

  /** Processes that stay keep their connections; a service that is gone finishes the requests that it has. */
  replace(backends: ServiceBackends): void {
    const { ca, ruleOf, clock, limits, pool } = this.#options
    for (const [service, urls] of backends) {
      const listed = urls.join(' ')
      if (this.#urls.get(service) === listed) continue
      this.#urls.set(service, listed)
      const origins = urls.flatMap((url) => parseUpstreamOrigin(new URL(url), ca) ?? [])
      const present = this.#pools.get(service)
      if (present) present.replaceMembers(origins)
      else this.#pools.set(service, upstreamPool({ origins, rule: ruleOf(service), limits, pool, clock }))
    }
    for (const [service, gone] of this.#pools) {
      if (backends.has(service)) continue
      gone.close()
      this.#pools.delete(service)
      this.#urls.delete(service)
    }
  }

  close(): void {
    for (const pool of this.#pools.values()) pool.close()
  }
}
