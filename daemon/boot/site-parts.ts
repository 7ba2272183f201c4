// The parts that boot gives to roles by name: keys, peers, carriers, issuer and backups to the site role, webhooks to consensus.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { joseSignatures } from '../../adapters/keys/jose/signatures.ts'
import { postWebhook } from '../../adapters/webhook/http/webhook.ts'
import type { PartKey } from '../kernel/call.ts'
import type { Peers } from '../kernel/peer.ts'
import type { Role } from '../kernel/role.ts'
import type { Transport } from '../kernel/transport.ts'
import { type Webhooks, webhooks } from '../roles/consensus/webhook.ts'
import {
  type Backups,
  backupsPart,
  issuerPart,
  peersPart,
  type Quarantines,
  quarantinesPart,
  type RecentlyVerified,
  recentlyVerifiedPart,
  signaturesPart,
  transportsPart,
} from '../roles/site/parts.ts'
import { quarantinesOf } from './carriers.ts'
import type { Identity } from './issuer.ts'
import { backup } from './offline/store-files.ts'
import type { SiteFolder } from './site-folder.ts'

export type PartMaterials = {
  readonly role: Role
  readonly folder: SiteFolder
  readonly identity: Identity
  readonly peers: Peers
  readonly transports: readonly Transport[]
  readonly recent: RecentlyVerified
  readonly now: () => number
}

/** Least privilege: each role is given what it is for, and nothing else. */
export function siteParts(given: PartMaterials): [string, unknown][] {
  const { role, folder, identity, peers, transports, recent, now } = given
  const named = <P>(key: PartKey<P>, value: P): [string, unknown] => [key.name, value]
  if (role.name === 'consensus') {
    const posting: Webhooks = { post: (url, secret_file, body) => postWebhook(url, secret_file, body, now()) }
    return [named(webhooks, posting)]
  }
  if (role.name !== 'site') return []
  return [
    named(signaturesPart, joseSignatures({ dir: folder.keys, now })),
    named(peersPart, peers),
    named(transportsPart, transports),
    named(recentlyVerifiedPart, recent),
    named(issuerPart, identity.issuer),
    named<Quarantines>(quarantinesPart, quarantinesOf(folder, peers)),
    named(backupsPart, backups(folder, now)),
  ]
}

const backupName = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z$/
const draftName = /^\.\d{4}-\d\d-\d\dT[\d-]+Z\.part$/

/** Made like those of `platform store backup`, of all roles of the site, so that `platform store restore` takes them. */
function backups(folder: SiteFolder, now: () => number): Backups {
  return {
    async run(dir = join(folder.data, 'backups'), keep) {
      const name = new Date(now()).toISOString().replaceAll(/[:.]/g, '-')
      fs.mkdirSync(dir, { recursive: true, mode: 0o700 })
      // What a crash left of an earlier one is as large as the databases.
      removeAll(dir, namesIn(dir, draftName))
      const draft = join(dir, `.${name}.part`)
      await backup(folder, draft, now(), () => undefined)
      fs.renameSync(draft, join(dir, name))
      // The one just made stays, also where a clock that was wrong made others that seem newer.
      const others = namesIn(dir, backupName).filter((each) => each !== name)
      removeAll(dir, others.slice(0, Math.max(0, others.length + 1 - keep)))
      return name
    },
  }
}

/** Oldest first. Whatever else lies in the folder is not ours. */
function namesIn(dir: string, pattern: RegExp): string[] {
  return fs
    .readdirSync(dir)
    .filter((each) => pattern.test(each))
    .sort()
}

function removeAll(dir: string, names: readonly string[]): void {
  for (const name of names) fs.rmSync(join(dir, name), { recursive: true })
}
