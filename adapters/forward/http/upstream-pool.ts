// A pool of upstreams that serve the same: probes them, ejects those that fail, and sends each request to the least busy one.
import type { MemberState } from '../../../daemon/kernel/forward/member-health.ts'
import type { Upstream } from '../../../daemon/kernel/forward/upstream.ts'
import type { UpstreamOrigin } from './dial.ts'
import { type PoolLimits, PoolMembers } from './pool-members.ts'
import { type UpstreamOptions, upstream } from './upstream.ts'

export const defaultPoolLimits: PoolLimits = {
  failures: 3,
  ejection_ms: 10_000,
  max_ejection_ms: 300_000,
  probe_path: '/health',
  probe_interval_ms: 5_000,
  probe_ms: 3_000,
}

type UpstreamPoolOptions = Omit<UpstreamOptions, 'origin'> & {
  readonly origins: readonly UpstreamOrigin[]
  readonly pool: PoolLimits
}

export type UpstreamPool = Upstream & {
  members(): readonly { readonly host: string; readonly port: number; readonly state: MemberState }[]
  /**
   * The pool serves from these alone. Members that stay keep their connections and the history of their health; one that is
   * removed finishes the requests that it has.
   */
  replaceMembers(origins: readonly UpstreamOrigin[]): void
}

/** `limits`, such as the number of connections, are those of each member. */
export function upstreamPool({ origins, pool, ...options }: UpstreamPoolOptions): UpstreamPool {
  const open = (origin: UpstreamOrigin) => upstream({ ...options, origin })
  const members = new PoolMembers({ origins, limits: pool, clock: options.clock, open })
  return {
    forward: (request, sink) => members.forward(request, sink),
    counts: () => members.counts(),
    members: () => members.listMembers(),
    replaceMembers: (next) => members.replaceMembers(next),
    close: () => members.close(),
  }
}
