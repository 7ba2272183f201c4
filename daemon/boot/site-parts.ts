// The parts that boot gives to roles by name: keys, peers, carriers, issuer and backups to the site role, webhooks to consensus.
import { readKeySets } from '../../adapters/keys/jose/key-set-files.ts'
import { joseSignatures } from '../../adapters/keys/jose/signatures.ts'
import { peopleFiles } from '../../adapters/peers/files/people-files.ts'
import { postWebhook } from '../../adapters/webhook/http/webhook.ts'
import type { AuditLog } from '../kernel/audit.ts'
import type { PartKey, Site } from '../kernel/call.ts'
import type { Carrier } from '../kernel/carrier.ts'
import type { StatusEvent } from '../kernel/coalition.ts'
import { refuse } from '../kernel/errors.ts'
import type { KeyValue } from '../kernel/keyvalue.ts'
import type { Peers } from '../kernel/peer.ts'
import type { People } from '../kernel/person.ts'
import { identitySettings } from '../kernel/platform-settings.ts'
import type { Role } from '../kernel/role.ts'
import type { Resolved } from '../kernel/settings.ts'
import type { Transport } from '../kernel/transport.ts'
import { type Brokers, brokers } from '../roles/consensus/broker.ts'
import { type Webhooks, webhooks } from '../roles/consensus/webhook.ts'
import {
  backupsPart,
  type Copies,
  copiesPart,
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
  type RecentlyVerified,
  recentlyVerifiedPart,
  type StatusFeed,
  signaturesPart,
  statusFeedPart,
  transportsPart,
} from '../roles/site/parts.ts'
import { failedAttempts } from '../roles/site/token/attempts.ts'
import { backupCopies } from './backup-search.ts'
import { quarantinesOf } from './carriers.ts'
import type { Identity } from './issuer.ts'
import { passphraseIn } from './passphrase.ts'
import { changePeer } from './pinned-peers.ts'
import { valuesOf } from './profile.ts'
import { scheduledBackups } from './scheduled-backups.ts'
import { peopleOf, type SiteFolder } from './site-folder.ts'

export type PartMaterials = {
  readonly role: Role
  readonly site: Site
  readonly folder: SiteFolder
  readonly resolved: Resolved
  readonly identity: Identity
  readonly peers: Peers
  readonly transports: readonly Transport[]
  readonly carriers: readonly Carrier[]
  readonly recent: RecentlyVerified
  readonly keyValue: KeyValue
  readonly now: () => number
  readonly audit: Pick<AuditLog, 'list'>
}

/** The client of brokers is loaded when something is emitted to one. */
function emitting(site: Site): Brokers {
  let loading: Promise<Brokers> | undefined
  const loaded = async () => {
    const { amqpEmitter } = await import('../../adapters/transport/amqp/emission.ts')
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
export function siteParts(given: PartMaterials): [string, unknown][] {
  const { role, site, folder, resolved, identity, peers, transports, carriers, recent, keyValue, now, audit } = given
  const named = <P>(key: PartKey<P>, value: P): [string, unknown] => [key.name, value]
  if (role.name === 'consensus') {
    const posting: Webhooks = { post: (to, body, by) => postWebhook(to, body, by, now()) }
    return [named(webhooks, posting), named(brokers, emitting(site))]
  }
  if (role.name !== 'site') return []
  const { keys_passphrase_file } = valuesOf(resolved, identitySettings)
  return [
    named(signaturesPart, joseSignatures({ dir: folder.keys, now, passphrase: passphraseIn(keys_passphrase_file) })),
    named(peersPart, peers),
    named<PinnedPeers>(pinnedPeersPart, { change: (name, change) => changePeer(folder, name, change) }),
    named<KeySets>(keySetsPart, { all: () => readKeySets(folder.keys), told: new Map(), unsent: new Map() }),
    named(transportsPart, transports),
    named<StatusFeed>(statusFeedPart, { publish: (event) => publishBy(carriers, event) }),
    named(recentlyVerifiedPart, recent),
    named(issuerPart, identity.issuer()),
    named(failedAttemptsPart, failedAttempts(keyValue)),
    named<Quarantines>(quarantinesPart, quarantinesOf(folder, resolved, peers)),
    named<Copies>(copiesPart, backupCopies(folder, resolved, audit)),
    named<People>(peoplePart, peopleFiles(peopleOf(folder))),
    named(backupsPart, scheduledBackups({ folder, resolved, now })),
  ]
}

/** The carriers start after the roles: what comes before has to come again. */
async function publishBy(carriers: readonly Carrier[], event: StatusEvent): Promise<void> {
  const coalition = carriers.find(({ publish }) => publish !== undefined)
  if (!coalition?.publish) throw refuse('unavailable', 'the site has not joined the coalition yet')
  await coalition.publish(event)
}
