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
import type { SiteFolder } from './site-folder.ts'
import type { Stock } from './stock.ts'

export type PartMaterials = {
  readonly role: Role
  readonly folder: SiteFolder
  readonly identity: Identity
  readonly peers: Peers
  readonly transports: readonly Transport[]
  readonly recent: RecentlyVerified
  /** All databases of this process; grows while the roles start. */
  readonly stocks: readonly Stock[]
  readonly now: () => number
}

/** Least privilege: each role is given what it is for, and nothing else. */
export function siteParts(given: PartMaterials): [string, unknown][] {
  const { role, folder, identity, peers, transports, recent, stocks, now } = given
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
    named(backupsPart, backups(folder, stocks, now)),
  ]
}

function backups(folder: SiteFolder, stocks: readonly Stock[], now: () => number): Backups {
  return {
    async run(dir = join(folder.data, 'backups'), keep) {
      const name = new Date(now()).toISOString().replaceAll(/[:.]/g, '-')
      const draft = join(dir, `.${name}.part`)
      fs.mkdirSync(draft, { recursive: true, mode: 0o700 })
      for (const stock of stocks) await stock.file.backup(join(draft, `${stock.role}.db`))
      fs.renameSync(draft, join(dir, name))
      const made = fs
        .readdirSync(dir)
        .filter((each) => /^\d{4}-\d\d-\d\dT/.test(each))
        .sort()
      for (const old of made.slice(0, -keep)) fs.rmSync(join(dir, old), { recursive: true })
      return name
    },
  }
}
