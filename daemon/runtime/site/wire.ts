// Connects the site role to adapters: keys, peers, links to other sites, token issuer, and backups.
import { keyFolderDataKeys } from '../../../adapters/keys/jose/data-keys.ts'
import { readKeySets } from '../../../adapters/keys/jose/key-set-files.ts'
import { joseSignatures } from '../../../adapters/keys/jose/signatures.ts'
import { peopleFiles } from '../../../adapters/peers/files/people-files.ts'
import { scanLimits } from '../../../adapters/platform/body-scanner/body-scanner.ts'
import { backupCopies } from '../../boot/backup/backup-copies.ts'
import { scheduledBackups } from '../../boot/backup/scheduled-backups.ts'
import { openCommandSandbox } from '../../boot/host/command-sandbox.ts'
import { passphraseReader } from '../../boot/host/passphrase.ts'
import { updatePinnedPeer } from '../../boot/identity/pinned-peers.ts'
import { repairKeyList } from '../../boot/identity/token-key-list.ts'
import { readVerificationLists } from '../../boot/identity/verification-lists.ts'
import { ensureWrappingKey } from '../../boot/identity/wrapping-key.ts'
import { linkMetrics, openQuarantines } from '../../boot/links/transports.ts'
import type { RoleWire, WireContext } from '../../boot/role-wire.ts'
import { peopleFolder } from '../../boot/storage/site-folder.ts'
import { documentTypes } from '../../document-types.ts'
import type { People } from '../../kernel/identity/person.ts'
import type { PartKey } from '../../kernel/role/part.ts'
import { getSettings } from '../../kernel/settings/get-settings.ts'
import { identitySettings } from '../../kernel/settings/platform-settings.ts'
import { messageKinds } from '../../message-kinds.ts'
import {
  type BackupCopies,
  backupCopiesPart,
  backupsPart,
  dataKeysPart,
  delegationsPart,
  documentTypesPart,
  failedAttemptsPart,
  issuerPart,
  type KeySets,
  keySetsPart,
  messageKindsPart,
  type OwnVerificationLists,
  type PinnedPeers,
  peersPart,
  peoplePart,
  pinnedPeersPart,
  type Quarantines,
  quarantinesPart,
  signaturesPart,
  statusFeedPart,
  transportsPart,
  verificationListsPart,
  verifiedMessageCachePart,
} from '../../roles/site/parts.ts'
import { filedropSettings } from '../../roles/site/settings.ts'
import { failedAttempts } from '../../roles/site/token/failed-attempts.ts'
import type { StatusFeed } from '../../shared/coalition/status-feed.ts'
import { siteLinks } from './links.ts'
import { findSiteStartProblems } from './start-checks.ts'

export const wire: RoleWire = {
  metrics: linkMetrics,
  findStartProblems: findSiteStartProblems,
  // An interrupted command may have changed the keys without the public list.
  prepare: repairKeyList,

  async open(context) {
    await ensureWrappingKey(context.resources)
    const { scanner } = getSettings(context.resources.resolved, filedropSettings)
    const sandbox = scanner && (await openCommandSandbox(context.log, scanLimits(scanner)))
    const { statusFeed, ...links } = siteLinks(context, sandbox)
    return { parts: buildSiteParts(context, statusFeed), ...links }
  },
}

/** Parts of the site role; by least privilege no other role has them. */
function buildSiteParts({ resources, storage }: WireContext, statusFeed: StatusFeed): [string, unknown][] {
  const { folder, resolved, identity, peers, transports, verifiedMessages, keyValue, clock } = resources
  const entryOf = <P>(key: PartKey<P>, value: P): [string, unknown] => [key.name, value]
  const { keys_passphrase_file } = getSettings(resolved, identitySettings)
  const { now } = clock
  const passphrase = passphraseReader(keys_passphrase_file)
  const signatures = joseSignatures({ dir: folder.keys, now, passphrase })
  const { name: site } = resources.site
  return [
    entryOf(signaturesPart, signatures),
    entryOf(dataKeysPart, keyFolderDataKeys({ dir: folder.keys, site, passphrase })),
    entryOf(peersPart, peers),
    entryOf<PinnedPeers>(pinnedPeersPart, { change: (name, change) => updatePinnedPeer(folder, name, change) }),
    entryOf<KeySets>(keySetsPart, {
      all: () => readKeySets(folder.keys),
      sent_versions: new Map(),
      logged_failures: new Map(),
    }),
    entryOf(documentTypesPart, documentTypes),
    entryOf(messageKindsPart, messageKinds),
    entryOf(transportsPart, transports),
    entryOf(statusFeedPart, statusFeed),
    entryOf(verifiedMessageCachePart, verifiedMessages),
    entryOf(issuerPart, identity.issuer()),
    entryOf(delegationsPart, identity.delegations()),
    entryOf(failedAttemptsPart, failedAttempts(keyValue)),
    entryOf<Quarantines>(quarantinesPart, openQuarantines(folder, resolved)),
    entryOf<BackupCopies>(backupCopiesPart, backupCopies(folder, resolved, storage.audit)),
    entryOf<OwnVerificationLists>(verificationListsPart, { read: () => readVerificationLists(folder) }),
    entryOf<People>(peoplePart, peopleFiles(peopleFolder(folder))),
    entryOf(backupsPart, scheduledBackups({ folder, resolved, now, signatures })),
  ]
}
