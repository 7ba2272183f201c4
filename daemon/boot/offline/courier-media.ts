// A courier's medium for commands: what waits in the channels goes to it, and what a peer put there comes in.
import { randomBytes } from 'node:crypto'
import { lstatSync } from 'node:fs'
import { joseSignatures } from '../../../adapters/keys/jose/signatures.ts'
import { peerFiles } from '../../../adapters/peers/files/peer-files.ts'
import { sqliteJournal } from '../../../adapters/store/sqlite/journal.ts'
import { type Exported, exportChannel } from '../../../adapters/transport/filedrop/courier/exporting.ts'
import type { Hands, Progress } from '../../../adapters/transport/filedrop/courier/hands.ts'
import { type Imported, importMedia } from '../../../adapters/transport/filedrop/courier/importing.ts'
import { folderFault, foldersOf } from '../../../adapters/transport/filedrop/layout.ts'
import { lineTo } from '../../../adapters/transport/filedrop/line.ts'
import { filedropSettings as carrierSettings } from '../../../adapters/transport/filedrop/settings.ts'
import { identitySettings } from '../../kernel/platform-settings.ts'
import { statementFormats } from '../../kernel/statement-format.ts'
import { filedropSettings } from '../../roles/site/settings.ts'
import { accreditedPeers } from '../accredited-peers.ts'
import { asInvoker, asOwnerOf } from '../acting.ts'
import { faultStop } from '../fault-stop.ts'
import { passphraseIn } from '../passphrase.ts'
import { valuesOf } from '../profile.ts'
import type { SiteFolder } from '../site-folder.ts'
import { record, withSiteFile } from './deed.ts'
import { Objection } from './objection.ts'
import { type Environment, siteSettings } from './site-profile.ts'

export type ExportedTo = Exported & { readonly peer: string }

/** Of one peer, or of all whose channels may be used. Throws `Objection`: 1 for no medium or no such peer, 3 for a channel that stands. */
export async function exportTo(
  folder: SiteFolder,
  env: Environment,
  media: string,
  peer: string | undefined,
  progress: (peer: string) => Progress,
): Promise<ExportedTo[]> {
  requireMedium(media)
  const { site, peers, signatures, settings, label_policy } = around(folder, env)
  const found = await peers.list()
  const wanted = peer === undefined ? found : found.filter(({ name }) => name === peer)
  if (peer !== undefined && wanted.length === 0) await refused(peer, peers)
  const done: ExportedTo[] = []
  for (const pinned of wanted) {
    const { name } = pinned
    const line = lineTo(name, { root: folder.filedrop, site })
    const closed = asOwnerOf(folder.filedrop, () => folderFault(line.folders, site, name))
    if (closed !== undefined) throw new Objection(3, `the channel to ${name} may not be used: ${closed}`)
    const made = await withSiteFile(folder, env, (file, audit) =>
      exportChannel({ line, peer: pinned }, media, {
        ...{ site, signatures, settings, label_policy, formats: statementFormats, journal: sqliteJournal(file, audit) },
        ...{ now: Date.now, random: hex, hands: handsFor(folder), progress: progress(name) },
      }),
    )
    if (made.messages > 0) {
      const { messages, folders, left } = made
      const detail = { messages, folders: folders.length, left: left.length }
      await record(folder, env, { action: 'site.filedrop.export', target: name, detail })
    }
    done.push({ peer: name, ...made })
  }
  return done
}

/** Throws `Objection` (1) when there is no medium. What is wrong with its content stands in the answer. */
export async function importFrom(
  folder: SiteFolder,
  env: Environment,
  media: string,
  progress: Progress,
): Promise<Imported> {
  requireMedium(media)
  const { site, peers, signatures, settings } = around(folder, env)
  const taken = await importMedia(media, {
    ...{ site, signatures, settings, peer: (name) => peers.get(name) },
    ...{ folders: (name) => foldersOf(folder.filedrop, name), random: hex, hands: handsFor(folder), progress },
  })
  for (const [peer, messages] of Object.entries(taken.by_peer)) {
    const detail = { messages, faults: taken.faults.length }
    await record(folder, env, { action: 'site.filedrop.import', target: peer, detail })
  }
  return taken
}

function around(folder: SiteFolder, env: Environment) {
  const { resolved, platform, labels } = siteSettings(folder, env)
  const { max_envelope_bytes, max_body_bytes } = valuesOf(resolved, filedropSettings)
  const { keys_passphrase_file } = valuesOf(resolved, identitySettings)
  return {
    site: platform.name,
    label_policy: labels,
    peers: accreditedPeers(peerFiles(folder.peers), resolved, Date.now),
    signatures: joseSignatures({ dir: folder.keys, passphrase: passphraseIn(keys_passphrase_file) }),
    settings: carrierSettings.parse({ max_envelope_bytes, max_body_bytes }),
  }
}

function handsFor(folder: SiteFolder): Hands {
  const step = <T>(done: T): T => {
    faultStop?.('courier-step')
    return done
  }
  return { site: (act) => step(asOwnerOf(folder.filedrop, act)), medium: (act) => step(asInvoker(act)) }
}

function requireMedium(media: string): void {
  const found = asInvoker(() => lstatSync(media, { throwIfNoEntry: false }))
  if (!found?.isDirectory())
    throw new Objection(1, `there is no folder ${media}`, 'mount the medium, and name a folder on it')
}

async function refused(peer: string, peers: ReturnType<typeof accreditedPeers>): Promise<never> {
  // Says why, when it is pinned and may not be used now.
  await peers.get(peer)
  throw new Objection(1, `there is no peer ${peer}`, '`platform peers list` shows those there are')
}

function hex(bytes: number): string {
  return randomBytes(bytes).toString('hex')
}
