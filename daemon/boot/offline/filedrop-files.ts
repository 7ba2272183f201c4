// File-drop without a running daemon: channels made at enrolment, files read and judged where they lie.
import { existsSync, lstatSync } from 'node:fs'
import { join } from 'node:path'
import { verifyJws } from '../../../adapters/keys/jose/signatures.ts'
import { sqliteJournal } from '../../../adapters/store/sqlite/journal.ts'
import { enrolChannel } from '../../../adapters/transport/filedrop/enrolment.ts'
import { type Inspection, inspectFile } from '../../../adapters/transport/filedrop/inspecting.ts'
import { foldersOf } from '../../../adapters/transport/filedrop/layout.ts'
import { type ReasonFile, readReason } from '../../../adapters/transport/filedrop/quarantine.ts'
import { type Verification, verifyFile } from '../../../adapters/transport/filedrop/verifying.ts'
import type { PublicKey } from '../../kernel/keys.ts'
import { type Peer, peer as peerSchema } from '../../kernel/peer.ts'
import type { SiteFolder } from '../site-folder.ts'
import { withSiteFile } from './deed.ts'
import { Objection } from './objection.ts'
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

export type Quarantined = ReasonFile & { readonly id: string; readonly folder: string; readonly says?: Inspection }

/** One item of quarantine, by its id `<peer>/<item>`. Throws `Objection` (1) when there is none. */
export function quarantined(folder: SiteFolder, id: string): Quarantined {
  const [name = '', item = '', ...more] = id.split('/')
  const isSafe = peerSchema.shape.name.safeParse(name).success && /^[\w.-]+$/.test(item) && !item.startsWith('.')
  const { quarantine } = foldersOf(folder.filedrop, isSafe ? name : 'none')
  const reason = isSafe && more.length === 0 ? readReason(join(quarantine, `${item}.reason.json`)) : undefined
  if (!reason) {
    throw new Objection(1, `there is no ${id} in quarantine`, '`platform filedrop quarantine list` shows what there is')
  }
  const message = ['env', 'body']
    .map((part) => join(quarantine, `${item}.${part}.json`))
    .find((path) => existsSync(path))
  return { id, ...reason, folder: quarantine, ...(message ? { says: inspectFile(message) } : {}) }
}

function requireFile(path: string): void {
  if (!lstatSync(path, { throwIfNoEntry: false })) throw new Objection(1, `${path} does not exist`)
}
