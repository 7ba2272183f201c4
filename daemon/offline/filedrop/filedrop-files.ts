// File-drop files without a running daemon: channels made at enrolment, files inspected and verified in place.

import { existsSync, lstatSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { listKeys } from '../../../adapters/keys/jose/key-lifecycle.ts'
import { readKeySets } from '../../../adapters/keys/jose/key-set-files.ts'
import { verifyJws } from '../../../adapters/keys/jose/signatures.ts'
import { peerFiles } from '../../../adapters/peers/files/peer-files.ts'
import { sqliteJournal } from '../../../adapters/store/sqlite/journal/journal.ts'
import { type CheckResults, checksOfReason } from '../../../adapters/transport/filedrop/checks/check-of-reason.ts'
import { foldersOf } from '../../../adapters/transport/filedrop/files/channel-folders.ts'
import { type FileInspection, inspectFile } from '../../../adapters/transport/filedrop/inspection/inspect-file.ts'
import {
  type FileVerification,
  type FileVerificationOptions,
  verifyFile,
} from '../../../adapters/transport/filedrop/inspection/verify-file.ts'
import { enrolChannel } from '../../../adapters/transport/filedrop/link/enrol-channel.ts'
import {
  type QuarantinedItem,
  readQuarantinedItem,
} from '../../../adapters/transport/filedrop/quarantine/quarantined-item.ts'
import type { SiteFolder } from '../../boot/storage/site-folder.ts'
import { digestKeySet, type KeySet, parseKeySet } from '../../kernel/cryptography/key-set.ts'
import type { PublicKey } from '../../kernel/cryptography/signatures.ts'
import type { Peer } from '../../kernel/identity/peer.ts'
import { getSettings } from '../../kernel/settings/get-settings.ts'
import { messageKinds } from '../../message-kinds.ts'
import { pinnedKeySetOf } from '../../roles/site/keyset/peer-keys.ts'
import { readPendingDismissal, readPendingRelease } from '../../roles/site/quarantine/find-pending-release.ts'
import {
  dismissalRequests,
  type PendingDismissal,
  type PendingRelease,
  releaseRequests,
} from '../../roles/site/quarantine/model.ts'
import { isReleasable, type ReleaseTarget } from '../../roles/site/quarantine/rules.ts'
import { releaseTargetOf } from '../../roles/site/quarantine/verify-release.ts'
import { filedropSettings } from '../../roles/site/settings.ts'
import { type PinnedKeySet, pinKeySet } from '../../shared/key-set/key-succession.ts'
import { withSiteDatabase } from '../audit/operator-action.ts'
import { parseKeySetFile, verifyNewestKeySet } from '../keys/key-set-file.ts'
import { parseJwks } from '../keys/site-keys.ts'
import { OfflineCommandError } from '../offline-command-error.ts'
import { type EnvironmentVariables, readSiteSettings } from '../site/site-profile.ts'
import { listRolesWithDatabase, withDatabase } from '../store/role-database.ts'

/** Creates the peer's folders and channels; changes nothing if an earlier enrolment has made them. */
export async function enrolChannels(folder: SiteFolder, env: EnvironmentVariables, peer: Peer): Promise<void> {
  const { platform } = readSiteSettings(folder, env)
  await withSiteDatabase(folder, env, async (file, audit) => {
    await enrolChannel(peer, { site: platform.name, root: folder.filedrop, journal: sqliteJournal(file, audit) })
  })
}

/** What is known of the sender of a message: its keys, and the set that holds them. */
export type SenderKeys = Pick<FileVerificationOptions, 'keys' | 'threshold' | 'root_threshold' | 'key_set'>

/**
 * Verifies a message by the keys of its sender; `find` gets the name that the message claims, to select them. Throws
 * `OfflineCommandError` (1) if the file does not exist.
 */
export async function verifyMessageFile(
  path: string,
  find: (claimed_src: string | undefined) => SenderKeys | Promise<SenderKeys>,
): Promise<FileVerification> {
  requireFile(path)
  const claimed = z.looseObject({ src: z.string() }).safeParse(inspectFile(path).unverified.statement).data?.src
  return await verifyFile(path, { ...(await find(claimed)), kinds: messageKinds, signatures: { verify: verifyJws } })
}

/** The keys in a file of --keys: a JWKS, or a key set, whose thresholds then count. Throws `OfflineCommandError`. */
export async function readSenderKeys(text: string): Promise<SenderKeys> {
  const sets = parseKeySetFile(text)
  if (!sets) return { keys: parseJwks(text) }
  const { set, digest } = await verifyNewestKeySet(sets)
  return senderKeysOf(set.keys, set.thresholds, pinKeySet(set, digest))
}

/** The keys of a pinned peer, or the site's own, by name; none for a site that is neither. */
export async function findPinnedSender(
  folder: SiteFolder,
  env: EnvironmentVariables,
  name: string | undefined,
): Promise<SenderKeys> {
  if (name === readSiteSettings(folder, env).platform.name) {
    const latest = readKeySets(folder.keys).at(-1)
    const set = latest && parseKeySet(latest)
    const keys = listKeys(folder.keys)
    return latest && set ? senderKeysOf(keys, set.thresholds, pinKeySet(set, digestKeySet(latest))) : { keys }
  }
  const peer = name === undefined ? undefined : await peerFiles(folder.peers).get(name)
  if (!peer) return { keys: [] }
  const { keys, threshold: message, root_threshold: root = 1 } = peer
  return senderKeysOf(keys, { message, root }, pinnedKeySetOf(peer))
}

function senderKeysOf(
  keys: readonly PublicKey[],
  { message, root }: KeySet['thresholds'],
  key_set: PinnedKeySet,
): SenderKeys {
  return { keys, threshold: message, root_threshold: root, key_set }
}

/** Reads the content of a message without verifying it. Throws `OfflineCommandError` (1) if the file does not exist. */
export function inspectMessageFile(path: string): FileInspection {
  requireFile(path)
  return inspectFile(path)
}

export type QuarantineItemDetails = QuarantinedItem & {
  readonly id: string
  readonly folder: string
  readonly says?: FileInspection
  readonly release?: PendingRelease
  readonly dismissal?: PendingDismissal
  /** Absent for an item without a known reason. */
  readonly checks?: CheckResults
  /** Commands that close the item. */
  readonly next: readonly string[]
}

/**
 * Reads one quarantine item by its id `<peer>/<item>`. Throws `OfflineCommandError` (1) if there is none. `now` in
 * epoch milliseconds.
 */
export async function readQuarantineItem(
  folder: SiteFolder,
  env: EnvironmentVariables,
  id: string,
  now: number,
): Promise<QuarantineItemDetails> {
  const { resolved } = readSiteSettings(folder, env)
  const [peer = '', item = '', ...extra] = id.split('/')
  const limits = getSettings(resolved, filedropSettings)
  const quarantined = extra.length === 0 ? readQuarantinedItem(folder.filedrop, peer, item, limits) : undefined
  if (!quarantined) {
    throw new OfflineCommandError(
      1,
      `${id} is not in quarantine`,
      '`platform filedrop quarantine list` lists the items',
    )
  }
  const { quarantine } = foldersOf(folder.filedrop, peer)
  const message = ['env', 'body']
    .map((part) => join(quarantine, `${item}.${part}.json`))
    .find((path) => existsSync(path))
  const pending = await findPendingRequests(folder, id, now)
  const pinned = await peerFiles(folder.peers).get(peer)
  const checks = checksOfReason(quarantined.reason, quarantined.code)
  const target = releaseTargetOf({ ...quarantined, id, files: [...quarantined.files] }, pinned?.tenant_id)
  return {
    id,
    ...quarantined,
    folder: quarantine,
    ...pending,
    ...(checks ? { checks } : {}),
    next: listNextCommands(target, pending),
    ...(message ? { says: inspectFile(message) } : {}),
  }
}

type PendingRequests = { readonly release?: PendingRelease; readonly dismissal?: PendingDismissal }

function listNextCommands(target: ReleaseTarget, { release, dismissal }: PendingRequests): string[] {
  const { item, reason } = target
  if (!isReleasable(target)) return [`platform filedrop quarantine dismiss ${item} --reason TEXT`]
  const label = reason === 'LABEL_MISSING' ? ' --classification LEVEL' : ''
  return [
    release
      ? `platform filedrop quarantine approve ${item} --key FILE`
      : `platform filedrop quarantine request ${item} --waive ${reason}${label} --reason TEXT --key FILE`,
    `platform filedrop quarantine dismiss ${item}${dismissal ? '' : ' --reason TEXT'} --key FILE`,
  ]
}

async function findPendingRequests(folder: SiteFolder, item: string, now: number): Promise<PendingRequests> {
  const role = listRolesWithDatabase(folder).find(({ name }) => name === 'site')
  if (!role) return {}
  return await withDatabase(folder, role, async ({ store }) => {
    const release = await store.get(releaseRequests, item)
    const dismissal = await store.get(dismissalRequests, item)
    return {
      ...(release && release.value.expires_ts > now ? { release: readPendingRelease(release) } : {}),
      ...(dismissal && dismissal.value.expires_ts > now ? { dismissal: readPendingDismissal(dismissal) } : {}),
    }
  })
}

function requireFile(path: string): void {
  if (!lstatSync(path, { throwIfNoEntry: false })) throw new OfflineCommandError(1, `${path} does not exist`)
}
