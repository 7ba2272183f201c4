// The parts that boot gives to roles by name: keys, peers, carriers, issuer and backups to the site role, webhooks to consensus.
import { readKeySets } from '../../../adapters/keys/jose/key-set-files.ts'
import { joseSignatures } from '../../../adapters/keys/jose/signatures.ts'
import { peopleFiles } from '../../../adapters/peers/files/people-files.ts'
import { postWebhook } from '../../../adapters/webhook/http/webhook.ts'
import { backupCopies } from '../../boot/backup/backup-copies.ts'
import { scheduledBackups } from '../../boot/backup/scheduled-backups.ts'
import { passphraseReader } from '../../boot/host/passphrase.ts'
import type { SiteIdentity } from '../../boot/identity/offline-identity.ts'
import { updatePinnedPeer } from '../../boot/identity/pinned-peers.ts'
import { openQuarantines } from '../../boot/links/transports.ts'
import { getSettings } from '../../boot/profile.ts'
import { peopleFolder, type SiteFolder } from '../../boot/storage/site-folder.ts'
import type { AuditLog } from '../../kernel/audit/audit-chain.ts'
import { refuse } from '../../kernel/error/errors.ts'
import type { Peers } from '../../kernel/identity/peer.ts'
import type { People } from '../../kernel/identity/person.ts'
import type { Carrier } from '../../kernel/messaging/carrier.ts'
import type { Transport } from '../../kernel/messaging/transport.ts'
import type { PartKey, Site } from '../../kernel/operation/call.ts'
import type { Role } from '../../kernel/role/role.ts'
import { identitySettings } from '../../kernel/settings/platform-settings.ts'
import type { ResolvedSettings } from '../../kernel/settings/settings.ts'
import type { KeyValue } from '../../kernel/store/key-value.ts'
import { type BrokerSinkClient, brokerSinkClient } from '../../roles/consensus/emission/broker-sink.ts'
import { type WebhookSinkClient, webhookSinkClient } from '../../roles/consensus/emission/webhook-sink.ts'
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
  type VerifiedMessageCache,
  verifiedMessageCachePart,
} from '../../roles/site/parts.ts'
import { failedAttempts } from '../../roles/site/token/failed-attempts.ts'
import type { StatusEvent } from '../../shared/coalition/hub-protocol.ts'

export type SitePartOptions = {
  readonly role: Role
  readonly site: Site
  readonly folder: SiteFolder
  readonly resolved: ResolvedSettings
  readonly identity: SiteIdentity
  readonly peers: Peers
  readonly transports: readonly Transport[]
  readonly carriers: readonly Carrier[]
  readonly verifiedMessages: VerifiedMessageCache
  readonly keyValue: KeyValue
  readonly now: () => number
  readonly audit: Pick<AuditLog, 'list'>
}

/** The client of brokers is loaded when something is emitted to one. */
function openBrokerSinkClient(site: Site): BrokerSinkClient {
  let loading: Promise<BrokerSinkClient> | undefined
  const loaded = async () => {
    const { amqpEmitter } = await import('../../../adapters/transport/amqp/amqp-emitter.ts')
    return amqpEmitter(`platform ${site.name}: emits`)
  }
  return {
    async publish(...given) {
      loading ??= loaded()
      await (await loading).publish(...given)
    },
  }
}

/** Least privilege: each role is given what it is for, and nothing else. */
export function buildSiteParts(given: SitePartOptions): [string, unknown][] {
  const {
    role,
    site,
    folder,
    resolved,
    identity,
    peers,
    transports,
    carriers,
    verifiedMessages,
    keyValue,
    now,
    audit,
  } = given
  const named = <P>(key: PartKey<P>, value: P): [string, unknown] => [key.name, value]
  if (role.name === 'consensus') {
    const posting: WebhookSinkClient = { post: (to, body, by) => postWebhook(to, body, by, now()) }
    return [named(webhookSinkClient, posting), named(brokerSinkClient, openBrokerSinkClient(site))]
  }
  if (role.name !== 'site') return []
  const { keys_passphrase_file } = getSettings(resolved, identitySettings)
  return [
    named(
      signaturesPart,
      joseSignatures({ dir: folder.keys, now, passphrase: passphraseReader(keys_passphrase_file) }),
    ),
    named(peersPart, peers),
    named<PinnedPeers>(pinnedPeersPart, { change: (name, change) => updatePinnedPeer(folder, name, change) }),
    named<KeySets>(keySetsPart, {
      all: () => readKeySets(folder.keys),
      sent_versions: new Map(),
      logged_failures: new Map(),
    }),
    named(transportsPart, transports),
    named<StatusFeed>(statusFeedPart, { publish: (event) => publishToCoalition(carriers, event) }),
    named(verifiedMessageCachePart, verifiedMessages),
    named(issuerPart, identity.issuer()),
    named(failedAttemptsPart, failedAttempts(keyValue)),
    named<Quarantines>(quarantinesPart, openQuarantines(folder, resolved, peers)),
    named<BackupCopies>(backupCopiesPart, backupCopies(folder, resolved, audit)),
    named<People>(peoplePart, peopleFiles(peopleFolder(folder))),
    named(backupsPart, scheduledBackups({ folder, resolved, now })),
  ]
}

/** The carriers start after the roles: what comes before has to come again. */
async function publishToCoalition(carriers: readonly Carrier[], event: StatusEvent): Promise<void> {
  const coalition = carriers.find(({ publish }) => publish !== undefined)
  if (!coalition?.publish) throw refuse('unavailable', 'the site has not joined the coalition yet')
  await coalition.publish(event)
}
