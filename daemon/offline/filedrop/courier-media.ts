// Exports ready messages to a courier's medium, and imports messages of a peer from it.
import { randomBytes } from 'node:crypto'
import { accessSync, constants, statSync } from 'node:fs'
import { userName } from '../../../adapters/host/users/system-users.ts'
import { joseSignatures } from '../../../adapters/keys/jose/signatures.ts'
import { peerFiles } from '../../../adapters/peers/files/peer-files.ts'
import { sqliteJournal } from '../../../adapters/store/sqlite/journal/journal.ts'
import type { CourierProgress, CourierSteps } from '../../../adapters/transport/filedrop/courier/courier-steps.ts'
import { exportChannel, type MediaExport } from '../../../adapters/transport/filedrop/courier/export-channel.ts'
import { importMedia, type MediaImport } from '../../../adapters/transport/filedrop/courier/import-media.ts'
import { folderFault, foldersOf } from '../../../adapters/transport/filedrop/files/channel-folders.ts'
import { filedropLink } from '../../../adapters/transport/filedrop/link/filedrop-link.ts'
import { filedropSettings as carrierSettings } from '../../../adapters/transport/filedrop/settings.ts'
import { faultStop } from '../../boot/host/fault-stop.ts'
import { passphraseReader } from '../../boot/host/passphrase.ts'
import { accreditedPeers } from '../../boot/links/accredited-peers.ts'
import type { SiteFolder } from '../../boot/storage/site-folder.ts'
import type { Peer } from '../../kernel/identity/peer.ts'
import { statementFormatsFor } from '../../kernel/messaging/statement-format.ts'
import { getSettings } from '../../kernel/settings/get-settings.ts'
import { identitySettings } from '../../kernel/settings/platform-settings.ts'
import { messageKinds } from '../../message-kinds.ts'
import { filedropSettings } from '../../roles/site/settings.ts'
import { recordOperatorAction, withSiteDatabase } from '../audit/operator-action.ts'
import { OfflineCommandError } from '../offline-command-error.ts'
import { type EnvironmentVariables, readSiteSettings } from '../site/site-profile.ts'

export type ChannelExport = MediaExport & { readonly peer: string }

/**
 * Exports messages of one peer, or of all whose channels may be used. Throws `OfflineCommandError`: 1 for a missing
 * medium or peer, 3 for a closed channel, and for a medium of another user.
 */
export async function exportToMedium(
  folder: SiteFolder,
  env: EnvironmentVariables,
  media: string,
  peer: string | undefined,
  progress: (peer: string) => CourierProgress,
): Promise<ChannelExport[]> {
  requireMedium(media, constants.R_OK | constants.W_OK | constants.X_OK)
  const context = readCourierContext(folder, env)
  const pinnedPeers = await context.peers.list()
  const selectedPeers = peer === undefined ? pinnedPeers : pinnedPeers.filter(({ name }) => name === peer)
  if (peer !== undefined && selectedPeers.length === 0) await refusePeer(peer, context.peers)
  const exports: ChannelExport[] = []
  for (const pinned of selectedPeers) {
    const { name } = pinned
    const exported = await exportToPeer(folder, env, media, pinned, context, progress(name)).catch((error) => {
      throw explainDenial(media, error)
    })
    if (exported.messages > 0) {
      const { messages, folders, left: omitted } = exported
      const detail = { messages, folders: folders.length, left: omitted.length }
      await recordOperatorAction(folder, env, { action: 'site.filedrop.export', target: name, detail })
    }
    exports.push({ peer: name, ...exported })
  }
  return exports
}

async function exportToPeer(
  folder: SiteFolder,
  env: EnvironmentVariables,
  media: string,
  peer: Peer,
  { site, signatures, settings, label_policy }: CourierContext,
  progress: CourierProgress,
): Promise<MediaExport> {
  const { name } = peer
  const link = filedropLink(name, { root: folder.filedrop, site })
  try {
    const fault = folderFault(link.paths, site, name) ?? link.pins.fault()
    if (fault !== undefined) throw new OfflineCommandError(3, `the channel to ${name} may not be used: ${fault}`)
    return await withSiteDatabase(folder, env, (file, audit) =>
      exportChannel({ link, peer }, media, {
        ...{
          site,
          signatures,
          settings,
          label_policy,
          formats: statementFormatsFor(messageKinds),
          journal: sqliteJournal(file, audit),
        },
        ...{ now: Date.now, random: randomHex, steps: courierSteps, progress },
      }),
    )
  } finally {
    link.pins.close()
  }
}

/**
 * Imports a medium; faults of its content are part of the result. Throws `OfflineCommandError` (1) if there is no
 * medium.
 */
export async function importFromMedium(
  folder: SiteFolder,
  env: EnvironmentVariables,
  media: string,
  progress: CourierProgress,
): Promise<MediaImport> {
  requireMedium(media, constants.R_OK | constants.X_OK)
  const { site, peers, signatures, settings } = readCourierContext(folder, env)
  const summary = await importMedia(media, {
    ...{ site, signatures, settings, peer: (name) => peers.get(name) },
    ...{
      folders: (name) => foldersOf(folder.filedrop, name),
      random: randomHex,
      steps: courierSteps,
      progress,
    },
  }).catch((error) => {
    throw explainDenial(media, error)
  })
  for (const [peer, messages] of Object.entries(summary.by_peer)) {
    const detail = { messages, faults: summary.faults.length }
    await recordOperatorAction(folder, env, { action: 'site.filedrop.import', target: peer, detail })
  }
  return summary
}

type CourierContext = ReturnType<typeof readCourierContext>

function readCourierContext(folder: SiteFolder, env: EnvironmentVariables) {
  const { resolved, platform, labels } = readSiteSettings(folder, env)
  const { max_envelope_bytes, max_body_bytes } = getSettings(resolved, filedropSettings)
  const { keys_passphrase_file } = getSettings(resolved, identitySettings)
  return {
    site: platform.name,
    label_policy: labels,
    peers: accreditedPeers(peerFiles(folder.peers), resolved, Date.now),
    signatures: joseSignatures({ dir: folder.keys, passphrase: passphraseReader(keys_passphrase_file) }),
    settings: carrierSettings.parse({ max_envelope_bytes, max_body_bytes }),
  }
}

const courierSteps: CourierSteps = { site: runStep, medium: runStep }

function runStep<T>(action: () => T): T {
  const value = action()
  faultStop?.('courier-step')
  return value
}

/**
 * The medium is read and written with the rights of this user: root has become the owner of the site for good, since the
 * site's database and messages must not be read with other rights.
 */
function requireMedium(media: string, mode: number): void {
  try {
    if (!statSync(media, { throwIfNoEntry: false })?.isDirectory())
      throw new OfflineCommandError(
        1,
        `the folder ${media} does not exist`,
        'mount the medium, and name a folder on it',
      )
    accessSync(media, mode)
  } catch (error) {
    throw explainDenial(media, error)
  }
}

/** The remedy for a medium of another user; other errors are returned as they are. */
function explainDenial(media: string, error: unknown): unknown {
  const { code, path } = error as NodeJS.ErrnoException
  if (code !== 'EACCES' || !path?.startsWith(media)) return error
  const user = userName(process.getuid?.() ?? 0)
  return new OfflineCommandError(
    3,
    `the user ${user}, as whom couriers work at this site, may not use ${path}`,
    `chown -R ${user} ${media}; or mount a medium without owners for this user (mount option uid=)`,
  )
}

async function refusePeer(peer: string, peers: ReturnType<typeof accreditedPeers>): Promise<never> {
  // Gives the reason if the peer is pinned but its channel may not be used.
  await peers.get(peer)
  throw new OfflineCommandError(1, `the peer ${peer} is not pinned`, '`platform peers list` lists the peers')
}

function randomHex(bytes: number): string {
  return randomBytes(bytes).toString('hex')
}
