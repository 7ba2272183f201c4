// Start checks of the site role: accredited channels, consistent networks, keys that can sign.
import { parseSchedule } from '../../../adapters/host/schedule/cron.ts'
import { listKeys } from '../../../adapters/keys/jose/key-lifecycle.ts'
import { peerFiles } from '../../../adapters/peers/files/peer-files.ts'
import { findLockedKeyFault } from '../../boot/identity/locked-keys.ts'
import { findAccreditationFault, findAccreditationLapse } from '../../boot/links/accredited-peers.ts'
import { findNetworkProblems } from '../../boot/links/network-carriers.ts'
import type { WireStartInput } from '../../boot/role-wire.ts'
import type { SiteFolder } from '../../boot/storage/site-folder.ts'
import { hasKeyEnded } from '../../kernel/cryptography/counting-signers.ts'
import type { PublicKey } from '../../kernel/cryptography/signatures.ts'
import { isRefusal } from '../../kernel/error/errors.ts'
import { getSettings } from '../../kernel/settings/get-settings.ts'
import { identitySettings } from '../../kernel/settings/platform-settings.ts'
import type { ProfileProblem } from '../../kernel/settings/profile-error.ts'
import type { ResolvedSettings } from '../../kernel/settings/settings.ts'
import { brokerFault, findPeersServedTwice } from '../../roles/site/carrier-settings.ts'
import { filedropSettings, settings as siteRoleSettings } from '../../roles/site/settings.ts'
import { coalitionSettings, findCoalitionFault } from '../../shared/coalition/coalition-settings.ts'

export type SiteStartFacts = {
  readonly resolved: ResolvedSettings
  /** Names of the enrolled peers: each has a federation channel. */
  readonly peers: readonly string[]
  /** Keys of the site; undefined if they cannot be read. */
  readonly keys?: readonly PublicKey[] | undefined
  /** Epoch milliseconds. */
  readonly now: number
}

/** Problems of settings and folder; checks key passphrase and networks only if there are none. */
export async function findSiteStartProblems({ folder, resolved, now }: WireStartInput): Promise<ProfileProblem[]> {
  const peers = (await peerFiles(folder.peers).list()).map(({ name }) => name)
  const keys = readSiteKeys(folder)
  const problems = findSiteProblems({ resolved, peers, keys, now })
  if (problems.length > 0) return problems
  const locked = keys ? await findKeyLockProblems(folder, resolved) : []
  return locked.length > 0 ? locked : findNetworkProblems(folder, resolved)
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

/** The site's keys; undefined if they cannot be read. Then the start of the site role fails with the reason. */
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

/** Profile D requires an accreditation, by name and date, of every federation channel. */
function findUnaccreditedChannels({ resolved, peers, now }: SiteStartFacts): ProfileProblem[] {
  return peers.flatMap((peer) => {
    const fault = findAccreditationFault(peer, resolved, now)
    if (!fault) return []
    const message = `the channel to ${peer} may not be used: ${fault} {authority, reference, valid_until}`
    return [{ path: `site.accreditations.${peer}`, message }]
  })
}

/** Acknowledgements disclose information about the receiver, so every profile requires their accreditation. */
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
  return duplicates.map((peer) => ({
    path: 'site',
    message: `${peer} is named by more than one network; remove it from all but one`,
  }))
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

/** Requires a message and a token key: without them the site could neither send nor admit callers. */
function findMissingKeys({ keys, now }: SiteStartFacts): ProfileProblem[] {
  if (keys === undefined) return []
  const usable = keys.filter((key) => key.status === 'active' && !hasKeyEnded(key, now))
  return requiredKeyUses
    .filter((use) => !usable.some((key) => key.use === use))
    .map((use) => ({
      path: 'keys',
      message: `the site has no active ${use} key: run \`platform keys generate --use ${use}\``,
    }))
}

function findInvalidSchedule({ resolved }: SiteStartFacts): ProfileProblem[] {
  const { backup_cron } = getSettings(resolved, siteRoleSettings)
  const schedule = backup_cron === undefined ? undefined : parseSchedule(backup_cron)
  return isRefusal(schedule) ? [{ path: 'site.backup_cron', message: schedule.message }] : []
}
