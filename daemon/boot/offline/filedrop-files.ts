// File-drop without a running daemon: channels made at enrolment, files read and judged where they lie.
import { existsSync, lstatSync } from 'node:fs'
import { join } from 'node:path'
import { verifyJws } from '../../../adapters/keys/jose/signatures.ts'
import { sqliteJournal } from '../../../adapters/store/sqlite/journal.ts'
import { enrolChannel } from '../../../adapters/transport/filedrop/enrolment.ts'
import { type Inspection, inspectFile } from '../../../adapters/transport/filedrop/inspecting.ts'
import { foldersOf } from '../../../adapters/transport/filedrop/layout.ts'
import {
  type QuarantinedItem,
  quarantinedItem,
} from '../../../adapters/transport/filedrop/quarantine/quarantined-item.ts'
import { type Verification, verifyFile } from '../../../adapters/transport/filedrop/verifying.ts'
import type { PublicKey } from '../../kernel/keys.ts'
import type { Peer } from '../../kernel/peer.ts'
import { type PendingRelease, releaseRequests } from '../../roles/site/quarantine/model.ts'
import { pendingIn } from '../../roles/site/quarantine/pending.ts'
import { filedropSettings } from '../../roles/site/settings.ts'
import { valuesOf } from '../profile.ts'
import type { SiteFolder } from '../site-folder.ts'
import { withSiteFile } from './deed.ts'
import { Objection } from './objection.ts'
import { rolesWithDatabase, withDatabase } from './role-database.ts'
import { type Environment, siteSettings } from './site-profile.ts'

/** Makes the peer's folders and channels, once; for an earlier enrolment whose folders stand it changes nothing. */
export async function enrolChannels(folder: SiteFolder, env: Environment, peer: Peer): Promise<void> {
  const { platform } = siteSettings(folder, env)
  await withSiteFile(folder, env, async (file, audit) => {
    await enrolChannel(peer, { site: platform.name, root: folder.filedrop, journal: sqliteJournal(file, audit) })
  })
}

/** Examines a message with these keys alone. Throws `Objection` (1) when there is no such file. */
export async function verify(path: string, keys: readonly PublicKey[], threshold: number): Promise<Verification> {
  requireFile(path)
  return await verifyFile(path, { signatures: { verify: verifyJws }, keys, threshold })
}

/** What the files say, nothing verified. Throws `Objection` (1) when there is no such file. */
export function inspect(path: string): Inspection {
  requireFile(path)
  return inspectFile(path)
}

export type Quarantined = QuarantinedItem & {
  readonly id: string
  readonly folder: string
  readonly says?: Inspection
  readonly release?: PendingRelease
}

/** One item of quarantine, by its id `<peer>/<item>`. Throws `Objection` (1) when there is none. `now` in epoch milliseconds. */
export async function quarantined(folder: SiteFolder, env: Environment, id: string, now: number): Promise<Quarantined> {
  const { resolved } = siteSettings(folder, env)
  const [peer = '', item = '', ...more] = id.split('/')
  const limits = valuesOf(resolved, filedropSettings)
  const found = more.length === 0 ? quarantinedItem(folder.filedrop, peer, item, limits) : undefined
  if (!found) {
    throw new Objection(1, `there is no ${id} in quarantine`, '`platform filedrop quarantine list` shows what there is')
  }
  const { quarantine } = foldersOf(folder.filedrop, peer)
  const message = ['env', 'body']
    .map((part) => join(quarantine, `${item}.${part}.json`))
    .find((path) => existsSync(path))
  const release = await pendingRelease(folder, id, now)
  return {
    id,
    ...found,
    folder: quarantine,
    ...(release ? { release } : {}),
    ...(message ? { says: inspectFile(message) } : {}),
  }
}

async function pendingRelease(folder: SiteFolder, item: string, now: number): Promise<PendingRelease | undefined> {
  const role = rolesWithDatabase(folder).find(({ name }) => name === 'site')
  const found = role && (await withDatabase(folder, role, ({ store }) => store.get(releaseRequests, item)))
  return found && found.value.expires_ts > now ? pendingIn(found) : undefined
}

function requireFile(path: string): void {
  if (!lstatSync(path, { throwIfNoEntry: false })) throw new Objection(1, `${path} does not exist`)
}
