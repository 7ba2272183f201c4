// Connects the site role to adapters: keys, peers, links to other sites, token issuer, and backups.
import { readKeySets } from '../../../adapters/keys/jose/key-set-files.ts'
import { joseSignatures } from '../../../adapters/keys/jose/signatures.ts'
import { peopleFiles } from '../../../adapters/peers/files/people-files.ts'
import { backupCopies } from '../../boot/backup/backup-copies.ts'
import { scheduledBackups } from '../../boot/backup/scheduled-backups.ts'
import { passphraseReader } from '../../boot/host/passphrase.ts'
import { updatePinnedPeer } from '../../boot/identity/pinned-peers.ts'
import { repairKeyList } from '../../boot/identity/token-key-list.ts'
import { linkMetrics, openQuarantines } from '../../boot/links/transports.ts'
import { getSettings } from '../../boot/profile.ts'
import type { RoleWire, WireContext } from '../../boot/role-wire.ts'
import { peopleFolder } from '../../boot/storage/site-folder.ts'
import { refuse } from '../../kernel/error/errors.ts'
import type { People } from '../../kernel/identity/person.ts'
import type { Carrier } from '../../kernel/messaging/carrier.ts'
import type { PartKey } from '../../kernel/operation/call.ts'
import { identitySettings } from '../../kernel/settings/platform-settings.ts'
import {
  type BackupCopies,
  backupCopiesPart,
  backupsPart,
  failedAttemptsPart,
  issuerPart,
  type KeySets,
  keySetsPart,
  type PinnedPeers,
  peersPart,
  peoplePart,
  pinnedPeersPart,
  type Quarantines,
  quarantinesPart,
  type StatusFeed,
  signaturesPart,
  statusFeedPart,
  transportsPart,
  verifiedMessageCachePart,
} from '../../roles/site/parts.ts'
import { failedAttempts } from '../../roles/site/token/failed-attempts.ts'
import type { StatusEvent } from '../../shared/coalition/hub-protocol.ts'
import { siteLinks } from './links.ts'
import { findSiteStartProblems } from './start-checks.ts'

export const wire: RoleWire = {
  metrics: linkMetrics,
  findStartProblems: findSiteStartProblems,
  // An interrupted command may have changed the keys without the public list.
  prepare: repairKeyList,

  async open(context) {
    const links = siteLinks(context)
    return { parts: buildSiteParts(context), ...links }
  },
}

/** Parts of the site role; by least privilege no other role has them. */
function buildSiteParts({ resources, storage }: WireContext): [string, unknown][] {
  const { folder, resolved, identity, peers, transports, carriers, verifiedMessages, keyValue, clock } = resources
  const entryOf = <P>(key: PartKey<P>, value: P): [string, unknown] => [key.name, value]
  const { keys_passphrase_file } = getSettings(resolved, identitySettings)
  const { now } = clock
  return [
    entryOf(
      signaturesPart,
      joseSignatures({ dir: folder.keys, now, passphrase: passphraseReader(keys_passphrase_file) }),
    ),
    entryOf(peersPart, peers),
    entryOf<PinnedPeers>(pinnedPeersPart, { change: (name, change) => updatePinnedPeer(folder, name, change) }),
    entryOf<KeySets>(keySetsPart, {
      all: () => readKeySets(folder.keys),
      sent_versions: new Map(),
      logged_failures: new Map(),
    }),
    entryOf(transportsPart, transports),
    entryOf<StatusFeed>(statusFeedPart, { publish: (event) => publishToCoalition(carriers, event) }),
    entryOf(verifiedMessageCachePart, verifiedMessages),
    entryOf(issuerPart, identity.issuer()),
    entryOf(failedAttemptsPart, failedAttempts(keyValue)),
    entryOf<Quarantines>(quarantinesPart, openQuarantines(folder, resolved, peers)),
    entryOf<BackupCopies>(backupCopiesPart, backupCopies(folder, resolved, storage.audit)),
    entryOf<People>(peoplePart, peopleFiles(peopleFolder(folder))),
    entryOf(backupsPart, scheduledBackups({ folder, resolved, now })),
  ]
}

/** Publishes an event. The carriers start after the roles, so an earlier event is refused and must be repeated. */
async function publishToCoalition(carriers: readonly Carrier[], event: StatusEvent): Promise<void> {
  const coalition = carriers.find(({ publish }) => publish !== undefined)
  if (!coalition?.publish) throw refuse('unavailable', 'the site has not joined the coalition yet')
  await coalition.publish(event)
}
