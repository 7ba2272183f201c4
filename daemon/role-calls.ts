// Lists what each role may request of the others: operations, exactly those that its code requests, and tools.
import type { RoleCalls } from './kernel/operation/role-context.ts'

/** By address. `test/role-calls.test.ts` derives the same table from the code. */
const addresses: Readonly<Record<string, readonly string[]>> = {
  site: [
    'consensus.federation.contribute',
    'consensus.federation.emission',
    'consensus.federation.invite',
    'consensus.federation.result',
    'consensus.service.backup',
    'hub.service.backup',
    'ingest.federation.dataset',
    'ingest.service.backup',
    'intelligence.federation.signal',
    'intelligence.service.backup',
    'proxy.service.backup',
    'resolution.exchange.receive',
    'resolution.service.backup',
    'site.checkpoint.create',
    'site.keyset.take',
    'site.message.land',
    'site.message.verify',
    'site.peerhead.take',
    'site.service.backup',
  ],
  consensus: [
    'resolution.entity-match.rule',
    'site.checkpoint.create',
    'site.coalition.publish',
    'site.key.list',
    'site.message.land',
    'site.message.send',
    'site.message.verify',
    'site.peer.crossing',
    'site.peer.list',
    'site.signature.create',
    'site.signature.verify',
  ],
  hub: ['site.checkpoint.create'],
  resolution: [
    'consensus.emission.list',
    'consensus.session.get',
    'consensus.session.open',
    'ingest.dag-run.status',
    'site.checkpoint.create',
    'site.data-key.create',
    'site.data-key.open',
    'site.delegation.grant',
    'site.delegation.principal',
    'site.delegation.token',
    'site.message.land',
    'site.message.send',
    'site.message.verify',
    'site.peer.crossing',
    'site.peer.list',
    'site.signature.create',
  ],
  intelligence: [
    'consensus.dissent.list',
    'consensus.emission.list',
    'intelligence.signal-intake.raise',
    'site.channel.list',
    'site.checkpoint.create',
    'site.delegation.grant',
    'site.delegation.principal',
    'site.delegation.token',
    'site.message.land',
    'site.message.send',
    'site.message.verify',
    'site.peer.crossing',
    'site.quarantine.list',
  ],
  ingest: [
    'intelligence.signal-intake.cause',
    'resolution.fusion-run.start',
    'resolution.fusion-run.status',
    'site.checkpoint.create',
    'site.data-key.create',
    'site.data-key.open',
    'site.delegation.grant',
    'site.delegation.principal',
    'site.delegation.token',
    'site.message.land',
    'site.message.send',
    'site.message.verify',
    'site.peer.crossing',
  ],
  proxy: ['site.checkpoint.create'],
}

/**
 * The only role that may use the tools that other roles offer, whichever a model chooses: in the name of a caller, with the
 * permissions of that caller that are not administrative, and never in its own name. See docs/decisions/0069.
 */
export const toolAggregator = 'gateway'

export const roleCalls: RoleCalls = new Map(Object.entries(addresses).map(([role, list]) => [role, new Set(list)]))
