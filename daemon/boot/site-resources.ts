// Resources that all roles of a process share, opened once before the first role.

import type { SystemClock } from '../../adapters/host/clock/system-clock.ts'
import { pinoLog } from '../../adapters/host/log/pino-log.ts'
import { systemRandom } from '../../adapters/host/random/system-random.ts'
import { peerFiles } from '../../adapters/peers/files/peer-files.ts'
import type { Peers } from '../kernel/identity/peer.ts'
import type { Carrier } from '../kernel/messaging/carrier.ts'
import type { Transport } from '../kernel/messaging/transport.ts'
import { drawChance } from '../kernel/network/backoff.ts'
import type { RoleContext } from '../kernel/operation/role-context.ts'
import type { Role } from '../kernel/role/role.ts'
import type { Site } from '../kernel/role/site.ts'
import { getSettings } from '../kernel/settings/get-settings.ts'
import { labelSettings, platformSettings } from '../kernel/settings/platform-settings.ts'
import { roleCallSettings } from '../kernel/settings/role-call-settings.ts'
import type { ResolvedSettings } from '../kernel/settings/settings.ts'
import type { KeyValue } from '../kernel/store/key-value.ts'
import type { Log } from '../kernel/telemetry/log.ts'
import { listRoleUrls } from '../shared/routing/role-urls.ts'
import { type AnnouncementBus, announcementBus } from './announcement-bus.ts'
import { RemoteRoles } from './host/remote-roles.ts'
import { openSpanExporter } from './host/span-exporter.ts'
import type { SiteIdentity } from './identity/offline-identity.ts'
import { openSiteIdentity } from './identity/site-identity.ts'
import { FetchedLists, listKeeper } from './identity/verification-lists.ts'
import { accreditedPeers } from './links/accredited-peers.ts'
import { verifiedMessageCache } from './links/inbound-delivery.ts'
import { findLogLevel } from './log-level.ts'
import type { RoleDirectory } from './role-caller.ts'
import type { WiredRole } from './role-wire.ts'
import type { RoleService } from './service.ts'
import { openKeyValue } from './storage/key-value.ts'
import type { RoleStorage } from './storage/role-storage.ts'
import type { SiteFolder } from './storage/site-folder.ts'

export type StartPlan = {
  readonly folder: SiteFolder
  readonly resolved: ResolvedSettings
  /** Roles in start order. */
  readonly starting: readonly Role[]
  readonly clock: SystemClock
  /** Replaces the log of the process. */
  readonly log: Log | undefined
  /** Resolves all settings again, as at a start. Rejects with `ProfileError` if a start would fail. */
  readonly resolveSettingsAgain: () => Promise<ResolvedSettings>
}

/** The start plan with the shared resources. */
export type SiteResources = StartPlan & {
  readonly site: Site
  readonly logOf: (role: string) => Log
  /** For a line of each request: written in blocks, of which a killed process loses the last. */
  readonly accessLogOf: (role: string) => Log
  readonly random: (bytes: number) => string
  /** A uniform random number from 0 to 1. */
  readonly chance: () => number
  readonly keyValue: KeyValue
  readonly identity: SiteIdentity
  readonly peers: Peers
  readonly verifiedMessages: ReturnType<typeof verifiedMessageCache>
  readonly directory: RoleDirectory & { readonly contexts: Map<string, RoleContext> }
  readonly remoteRoles: RemoteRoles
  /** Of a process that reaches the site role on another machine. */
  readonly lists: FetchedLists | undefined
  readonly announcements: AnnouncementBus
  readonly storages: RoleStorage[]
  readonly services: RoleService[]
  readonly transports: Transport[]
  /** Network carriers, for peers that the profile assigns to a network. */
  readonly carriers: Carrier[]
  readonly spans: Awaited<ReturnType<typeof openSpanExporter>>
  /** Wired parts of each role. */
  readonly wired: Map<string, WiredRole>
}

export async function openSiteResources(plan: StartPlan): Promise<SiteResources> {
  const { folder, resolved, clock } = plan
  const site = buildSite(resolved)
  const random = systemRandom()
  const openLog = (role: string, inBlocks: boolean) =>
    plan.log ??
    pinoLog({ level: findLogLevel(resolved, role), to: 'stderr', base: { site: site.name, role }, inBlocks })
  const logOf = (role: string) => openLog(role, false)
  const chance = () => drawChance(random)
  const urls = listRoleUrls((block) => getSettings(resolved, block))
  const lists = openFetchedLists(plan, urls)
  const identity = await openSiteIdentity({
    requireFreshLists: lists && (() => lists.requireFresh()),
    folder,
    site,
    resolved,
    log: logOf('identity'),
    random,
    now: clock.now,
    monotonic: clock.monotonic,
  })
  const { ca_file } = getSettings(resolved, roleCallSettings)
  const remoteRoles = new RemoteRoles({ folder, site: site.name, ca_file, log: logOf('boot'), ...clock })
  return {
    ...plan,
    site,
    logOf,
    accessLogOf: (role) => openLog(role, true),
    random,
    chance,
    keyValue: await openKeyValue({ ...plan, ...clock, site: site.name, log: logOf('boot'), chance }),
    identity,
    peers: accreditedPeers(peerFiles(folder.peers), resolved, clock.now),
    verifiedMessages: verifiedMessageCache(),
    directory: {
      ...{ folder, contexts: new Map(), urls, remote: remoteRoles },
      ...{ serviceToken: identity.serviceToken, random },
    },
    remoteRoles,
    lists,
    announcements: announcementBus(),
    storages: [],
    services: [],
    transports: [],
    carriers: [],
    spans: await openSpanExporter(resolved, site, logOf('boot')),
    wired: new Map(),
  }
}

function openFetchedLists(
  { folder, resolved, starting, clock: { monotonic } }: StartPlan,
  urls: ReadonlyMap<string, unknown>,
): FetchedLists | undefined {
  const isElsewhere = urls.has(listKeeper) && !starting.some(({ name }) => name === listKeeper)
  const max_age_ms = getSettings(resolved, roleCallSettings).lists_max_age_s * 1_000
  return isElsewhere ? new FetchedLists({ folder, max_age_ms, monotonic }) : undefined
}

function buildSite(resolved: ResolvedSettings): Site {
  const { name, tenant_id, deployment_profile } = getSettings(resolved, platformSettings)
  const { policy, levels, default_level } = getSettings(resolved, labelSettings)
  return { name, tenant_id, deployment_profile, labels: { policy, levels }, default_level }
}
