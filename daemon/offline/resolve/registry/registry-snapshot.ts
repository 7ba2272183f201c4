// Takes in a snapshot of another site's registry: whole, signed for this site by a pinned peer, and never an older one.

import { constants, createReadStream } from 'node:fs'
import { type FileHandle, mkdir, open } from 'node:fs/promises'
import { writeDurablyAsync } from '../../../../adapters/platform/durable-file/write-durably.ts'
import { runAsInvoker, runAsOwnerOf } from '../../../boot/host/act-as-owner.ts'
import { roleDataFolder, type SiteFolder } from '../../../boot/storage/site-folder.ts'
import { parseJson } from '../../../kernel/encoding/parse-json.ts'
import { runningDigest } from '../../../kernel/encoding/running-digest.ts'
import { isRefusal } from '../../../kernel/error/errors.ts'
import { getSettings } from '../../../kernel/settings/get-settings.ts'
import { settings } from '../../../roles/resolution/settings.ts'
import {
  type ImportedSnapshotTrailer,
  max_line_bytes,
  type SnapshotManifest,
  snapshotTrailer,
} from '../../../roles/resolution/snapshot/model.ts'
import { readSnapshotTrailer, snapshotFile, snapshotFolder } from '../../../runtime/resolution/snapshot-files.ts'
import { readLastLine, splitIntoLines } from '../../../runtime/resolution/snapshot-lines.ts'
import { recordOperatorAction } from '../../audit/operator-action.ts'
import { OfflineCommandError } from '../../offline-command-error.ts'
import { type EnvironmentVariables, readSiteSettings } from '../../site/site-profile.ts'
import { SignedSnapshotReader } from './signed-snapshot-reader.ts'
import { type VerifiedSnapshot, verifySnapshotSignature } from './snapshot-signature.ts'

export type RegistryImportOptions = {
  readonly file: string
  /** The snapshot of this site may take the place of another site's. */
  readonly isInstead: boolean
  /** Epoch milliseconds. */
  readonly now: number
}

export type RegistryImportResult = { readonly manifest: SnapshotManifest; readonly isNew: boolean }

/**
 * Refused whole or taken in whole, and durable when it resolves; a running service looks records up in it from then on. Throws `OfflineCommandError`: 1 for a
 * file that cannot be read, 3 for what the site does not take, 5 for what does not verify.
 */
export async function importRegistrySnapshot(
  folder: SiteFolder,
  env: EnvironmentVariables,
  given: RegistryImportOptions,
): Promise<RegistryImportResult> {
  const { resolved, labels } = readSiteSettings(folder, env)
  const { matching_pattern, snapshot_mb, lookup_records } = getSettings(resolved, settings)
  if (matching_pattern !== 'lookup_only') {
    throw new OfflineCommandError(
      3,
      'this site matches records itself',
      'for lookups in a snapshot, set resolution.matching_pattern: lookup_only',
    )
  }
  const source = await openSnapshot(given.file)
  try {
    const signed = await readSnapshotEnding(folder, env, source, given.file, snapshot_mb * 1_048_576)
    const { manifest } = signed
    if (manifest.records > lookup_records) {
      throw new OfflineCommandError(
        3,
        `the snapshot has ${manifest.records} records, and this site allows ${lookup_records} at most`,
        'raise resolution.lookup_records',
      )
    }
    return await runAsOwnerOf(roleDataFolder(folder, 'resolution'), async () => {
      const isNew = await requireNewerSnapshot(snapshotFile(folder, manifest.lens), manifest, given.isInstead)
      if (!isNew) return { manifest, isNew }
      await storeSnapshot(folder, source, (lines) => new SignedSnapshotReader(signed, labels).read(lines), {
        signed,
        record: () => runAsOwnerOf(roleDataFolder(folder, 'site'), () => recordImport(folder, env, manifest)),
        recheck: () => requireNewerSnapshot(snapshotFile(folder, manifest.lens), manifest, given.isInstead),
        now: given.now,
      })
      return { manifest, isNew }
    })
  } finally {
    await source.close()
  }
}

/** Never waits for somebody at the other end of a pipe. */
async function openSnapshot(file: string): Promise<FileHandle> {
  try {
    const found = await runAsInvoker(() => open(file, constants.O_RDONLY | constants.O_NONBLOCK))
    if ((await found.stat()).isFile()) return found
    await found.close()
  } catch (error) {
    throw new OfflineCommandError(1, `${file} cannot be read: ${(error as NodeJS.ErrnoException).code}`)
  }
  throw new OfflineCommandError(1, `${file} is not a file`)
}

async function readSnapshotEnding(
  folder: SiteFolder,
  env: EnvironmentVariables,
  source: FileHandle,
  file: string,
  most_bytes: number,
): Promise<VerifiedSnapshot> {
  const { size } = await source.stat()
  if (size > most_bytes) {
    throw new OfflineCommandError(3, `${file} is larger than this site accepts`, 'raise resolution.snapshot_mb')
  }
  const last = await readLastLine(source, size)
  const read = last && snapshotTrailer.safeParse(parseJson(last.text))
  if (!read?.success) {
    throw new OfflineCommandError(5, `${file} is not a registry snapshot, or its end is missing: nothing was imported`)
  }
  const signed = await verifySnapshotSignature(folder, env, read.data.signed)
  if (signed.manifest.bytes !== last?.from) {
    throw new OfflineCommandError(5, `the length of ${file} differs from the signed length: nothing was imported`)
  }
  return signed
}

/** False for the very one that is held. */
async function requireNewerSnapshot(
  file: string,
  { from, version, sha256 }: SnapshotManifest,
  isInstead: boolean,
): Promise<boolean> {
  const held = (await readSnapshotTrailer(file).catch(() => undefined))?.manifest
  if (!held) return true
  if (held.from !== from) {
    if (isInstead) return true
    throw new OfflineCommandError(
      3,
      `the current registry of this lens is from ${held.from}`,
      'to replace it: add --instead',
    )
  }
  if (held.version === version && held.sha256 === sha256) return false
  if (held.version < version) return true
  throw new OfflineCommandError(3, `the current snapshot is newer (${held.made_at}): nothing was imported`)
}

type SnapshotStorageOptions = {
  readonly signed: VerifiedSnapshot
  readonly record: () => Promise<void>
  readonly recheck: () => Promise<boolean>
  readonly now: number
}

/** Into a file of its own first: what is checked is what is kept, whoever writes to the other one meanwhile. */
async function storeSnapshot(
  folder: SiteFolder,
  source: FileHandle,
  read: (lines: AsyncIterable<string>) => Promise<Pick<ImportedSnapshotTrailer, 'label' | 'labels'>>,
  { signed, record: tell, recheck, now }: SnapshotStorageOptions,
): Promise<void> {
  const { manifest, envelope } = signed
  const file = snapshotFile(folder, manifest.lens)
  const partial = `${file}.partial`
  await mkdir(snapshotFolder(folder), { recursive: true, mode: 0o700 })
  const writeCopy = async (copy: FileHandle) => {
    await copySignedBytes(source, copy, manifest)
    const found = await read(splitIntoLines(createReadStream(partial), max_line_bytes)).catch(rejectSnapshot)
    const held: ImportedSnapshotTrailer = {
      ...{ form: 'held-registry/1', manifest, signed: envelope, imported_at: new Date(now).toISOString() },
      ...{ label: found.label, labels: found.labels },
    }
    await copy.write(`${JSON.stringify(held)}\n`)
  }
  const beforeRename = async () => {
    await recheck()
    await tell()
  }
  await writeDurablyAsync(file, writeCopy, { draft: partial, beforeRename }).catch((error: NodeJS.ErrnoException) => {
    throw error.syscall === 'open' && error.path === partial ? convertDraftError(partial, error) : error
  })
}

function convertDraftError(partial: string, { code }: NodeJS.ErrnoException): OfflineCommandError {
  if (code !== 'EEXIST') return new OfflineCommandError(1, `${partial} cannot be written: ${code}`)
  return new OfflineCommandError(3, 'another import is at work', `if none is, remove ${partial}`)
}

/** Just the bytes that were signed. */
async function copySignedBytes(
  source: FileHandle,
  copy: FileHandle,
  { bytes, sha256 }: SnapshotManifest,
): Promise<void> {
  const digest = runningDigest()
  const piece = Buffer.alloc(1_048_576)
  for (let at = 0; at < bytes; ) {
    const { bytesRead } = await source.read(piece, 0, Math.min(piece.length, bytes - at), at)
    if (bytesRead === 0) break
    digest.add(piece.subarray(0, bytesRead))
    await copy.writeFile(piece.subarray(0, bytesRead))
    at += bytesRead
  }
  if (digest.hex() !== sha256)
    throw new OfflineCommandError(5, 'the content differs from what was signed: nothing was imported')
}

/** The peer has signed it, and yet it is no registry. */
function rejectSnapshot(error: unknown): never {
  if (error instanceof OfflineCommandError) throw error
  if (isRefusal(error)) throw new OfflineCommandError(3, `${error.message}: nothing was imported`)
  if (error instanceof RangeError) throw new OfflineCommandError(5, `${error.message}: nothing was imported`)
  throw error
}

async function recordImport(folder: SiteFolder, env: EnvironmentVariables, manifest: SnapshotManifest): Promise<void> {
  const { from, lens, lens_version, version, made_at, records, entities, sha256 } = manifest
  const detail = { lens, lens_version, version, made_at, records, entities, sha256 }
  await recordOperatorAction(folder, env, { action: 'site.registry.import', target: from, detail })
}
