// What must hold before the site role starts: accredited channels, networks that agree, keys that can sign.
import { isCron } from '../../../adapters/host/schedule/cron.ts'
import { listKeys } from '../../../adapters/keys/jose/key-lifecycle.ts'
import { peerFiles } from '../../../adapters/peers/files/peer-files.ts'
import { findLockedKeyFault } from '../../boot/identity/locked-keys.ts'
import { findAccreditationFault, findAccreditationLapse } from '../../boot/links/accredited-peers.ts'
import { findNetworkProblems } from '../../boot/links/network-carriers.ts'
import { getSettings, type ProfileProblem } from '../../boot/profile.ts'
import type { WireStartInput } from '../../boot/role-wire.ts'
import type { SiteFolder } from '../../boot/storage/site-folder.ts'
import type { PublicKey } from '../../kernel/cryptography/signatures.ts'
import { identitySettings } from '../../kernel/settings/platform-settings.ts'
import type { ResolvedSettings } from '../../kernel/settings/settings.ts'
import { brokerFault, findPeersServedTwice } from '../../roles/site/carrier-settings.ts'
import { filedropSettings, settings as siteRoleSettings } from '../../roles/site/settings.ts'
import { coalitionSettings, findCoalitionFault } from '../../shared/coalition/coalition-settings.ts'

export type SiteStartFacts = {
  readonly resolved: ResolvedSettings
  /** Names of the enrolled peers: each has a federation channel. */
  readonly peers: readonly string[]
  /** The site's own; undefined where they cannot be read. */
  readonly keys?: readonly PublicKey[] | undefined
  /** Epoch milliseconds. */
  readonly now: number
}

/** Problems of the settings and of what the folder holds; those of keys and networks are looked for once these are none. */
export async function findSiteStartProblems({ folder, resolved, env, now }: WireStartInput): Promise<ProfileProblem[]> {
  const peers = (await peerFiles(folder.peers).list()).map(({ name }) => name)
  const keys = readSiteKeys(folder)
  const problems = findSiteProblems({ resolved, peers, keys, now })
  if (problems.length > 0) return problems
  const locked = keys ? await findKeyLockProblems(folder, resolved) : []
  return locked.length > 0 ? locked : findNetworkProblems(folder, resolved, env)
}

/** Everything that forbids the start of the site role, from settings and facts alone. */
export function findSiteProblems(facts: SiteStartFacts): ProfileProblem[] {
  return [
    ...findUnaccreditedChannels(facts),
    ...findPeersOnTwoNetworks(facts),
    ...findIncompleteCoalition(facts),
    ...findMissingBroker(facts),
    ...findMissingKeys(facts),
    ...findUnaccreditedAcknowledgements(facts),
    ...findInvalidSchedule(facts),
  ]
}

/** Keys that cannot be read keep the site role alone from starting, which then says why. */
function readSiteKeys(folder: SiteFolder): PublicKey[] | undefined {
  try {
    return listKeys(folder.keys)
  } catch {
    return undefined
  }
}

async function findKeyLockProblems(folder: SiteFolder, resolved: ResolvedSettings): Promise<ProfileProblem[]> {
  const locked = await findLockedKeyFault(folder, getSettings(resolved, identitySettings).keys_passphrase_file)
  return locked === undefined ? [] : [{ path: 'identity.keys_passphrase_file', message: locked }]
}

/** In profile D every federation channel is accredited, by name and date, or the process does not start. */
function findUnaccreditedChannels({ resolved, peers, now }: SiteStartFacts): ProfileProblem[] {
  return peers.flatMap((peer) => {
    const fault = findAccreditationFault(peer, resolved, now)
    if (!fault) return []
    const message = `the channel to ${peer} may not be used: ${fault} {authority, reference, valid_until}`
    return [{ path: `site.accreditations.${peer}`, message }]
  })
}

/** What goes back tells a sender about its receiver: that is accredited by name in every profile. */
function findUnaccreditedAcknowledgements({ resolved, now }: SiteStartFacts): ProfileProblem[] {
  return Object.keys(getSettings(resolved, filedropSettings).acknowledgements).flatMap((peer) => {
    const fault = findAccreditationLapse(peer, resolved, now)
    if (!fault) return []
    const message = `no acknowledgement may go to ${peer}: ${fault}; see site.accreditations.${peer}`
    return [{ path: `filedrop.acknowledgements.${peer}`, message }]
  })
}

function findPeersOnTwoNetworks({ resolved }: SiteStartFacts): ProfileProblem[] {
  const duplicates = findPeersServedTwice((section) => getSettings(resolved, section))
  return duplicates.map((peer) => ({ path: 'site', message: `${peer} is named by more than one network; leave one` }))
}

function findMissingBroker({ resolved }: SiteStartFacts): ProfileProblem[] {
  const fault = brokerFault((section) => getSettings(resolved, section))
  return fault === undefined ? [] : [{ path: 'amqp', message: fault }]
}

function findIncompleteCoalition({ resolved }: SiteStartFacts): ProfileProblem[] {
  const message = findCoalitionFault(getSettings(resolved, coalitionSettings))
  return message === undefined ? [] : [{ path: 'coalition', message }]
}

const requiredKeyUses: readonly PublicKey['use'][] = ['message', 'token']

/** Without one nothing could be sent, or nobody let in: better no start than half of one. */
function findMissingKeys({ keys, now }: SiteStartFacts): ProfileProblem[] {
  if (keys === undefined) return []
  const usable = keys.filter(
    ({ status, not_after }) => status === 'active' && (not_after === undefined || now < Date.parse(not_after)),
  )
  return requiredKeyUses
    .filter((use) => !usable.some((key) => key.use === use))
    .map((use) => ({
      path: 'keys',
      message: `the site has no active ${use} key: run \`platform keys generate --use ${use}\``,
    }))
}

function findInvalidSchedule({ resolved }: SiteStartFacts): ProfileProblem[] {
  const { backup_cron } = getSettings(resolved, siteRoleSettings)
  if (!backup_cron || isCron(backup_cron)) return []
  return [{ path: 'site.backup_cron', message: 'this is no cron expression' }]
}
