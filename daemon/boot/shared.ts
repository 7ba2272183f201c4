// What all roles of a process share: made once, before the first of them.
import type { Clock } from '../../adapters/host/clock/system-clock.ts'
import { pinoLog } from '../../adapters/host/log/pino-log.ts'
import { systemRandom } from '../../adapters/host/random/system-random.ts'
import { peerFiles } from '../../adapters/peers/files/peer-files.ts'
import type { Log, Site } from '../kernel/call.ts'
import type { Carrier } from '../kernel/carrier.ts'
import type { Workshop } from '../kernel/invoke.ts'
import type { KeyValue } from '../kernel/keyvalue.ts'
import type { Peers } from '../kernel/peer.ts'
import { labelSettings, platformSettings } from '../kernel/platform-settings.ts'
import type { Role } from '../kernel/role.ts'
import type { Resolved } from '../kernel/settings.ts'
import type { Transport } from '../kernel/transport.ts'
import { accreditedPeers } from './accredited-peers.ts'
import type { Office } from './asking.ts'
import { type Bus, bus } from './bus.ts'
import { recentlyVerified } from './carriage.ts'
import { openSpans } from './collector.ts'
import type { Ferry } from './ferry.ts'
import { siteIdentity } from './identity.ts'
import type { Identity } from './issuer.ts'
import { openKeyValue } from './key-value.ts'
import type { NetworkMaterials } from './network-carriers.ts'
import { valuesOf } from './profile.ts'
import type { Service } from './service.ts'
import type { SiteFolder } from './site-folder.ts'
import type { Stock } from './stock.ts'

export type Plan = {
  readonly folder: SiteFolder
  readonly resolved: Resolved
  /** In the order in which they start. */
  readonly starting: readonly Role[]
  readonly clock: Clock
  /** Instead of the process's own log. */
  readonly log: Log | undefined
  /** Settles everything anew, as at a start. Rejects with `ProfileError` where the process would not start so. */
  readonly resettle: () => Promise<Resolved>
}

/** What all roles of the process share. */
export type Shared = Plan & {
  readonly site: Site
  readonly logOf: (role: string) => Log
  readonly random: (bytes: number) => string
  /** A number from 0 to 1, evenly. */
  readonly chance: () => number
  readonly keyValue: KeyValue
  readonly identity: Identity
  readonly peers: Peers
  readonly recent: ReturnType<typeof recentlyVerified>
  readonly office: Office & { readonly workshops: Map<string, Workshop> }
  readonly announcements: Bus
  readonly stocks: Stock[]
  readonly services: Service[]
  readonly transports: Transport[]
  /** Networks that move the messages of some peers. */
  readonly carriers: Carrier[]
  readonly ferries: Ferry[]
  readonly spans: Awaited<ReturnType<typeof openSpans>>
  /** Where the networks count and record: what belongs to the site role; none where another process runs it. */
  readonly accounts: Pick<NetworkMaterials, 'metrics' | 'record'>[]
}

export async function share(plan: Plan): Promise<Shared> {
  const { folder, resolved, clock } = plan
  const site = siteOf(resolved)
  const random = systemRandom()
  const level = valuesOf(resolved, platformSettings).log_level
  const logOf = (role: string) => plan.log ?? pinoLog({ level, to: 'stderr', base: { site: site.name, role } })
  const chance = () => Number.parseInt(random(6), 16) / 2 ** 48
  const identity = await siteIdentity({
    folder,
    site,
    resolved,
    log: logOf('identity'),
    random,
    now: clock.now,
    monotonic: clock.monotonic,
  })
  return {
    ...plan,
    site,
    logOf,
    random,
    chance,
    keyValue: await openKeyValue({ ...plan, ...clock, site: site.name, log: logOf('boot'), chance }),
    identity,
    peers: accreditedPeers(peerFiles(folder.peers), resolved, clock.now),
    recent: recentlyVerified(),
    office: { folder, workshops: new Map(), serviceToken: identity.serviceToken, random },
    announcements: bus(),
    stocks: [],
    services: [],
    transports: [],
    carriers: [],
    ferries: [],
    spans: await openSpans(resolved, site, logOf('boot')),
    accounts: [],
  }
}

function siteOf(resolved: Resolved): Site {
  const { name, tenant_id, deployment_profile } = valuesOf(resolved, platformSettings)
  const { policy, levels, default_level } = valuesOf(resolved, labelSettings)
  return { name, tenant_id, deployment_profile, labels: { policy, levels }, default_level }
}
