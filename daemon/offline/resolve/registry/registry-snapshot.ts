// Imports a snapshot of another site's registry: complete, signed for this site by a pinned peer, and not an older one.
import { constants, createReadStream, readSync } from 'node:fs'
import { type FileHandle, mkdir, open } from 'node:fs/promises'
import * as z from 'zod'
import { writeDurablyAsync } from '../../../../adapters/platform/durable-file/write-durably.ts'
import { runAsInvoker } from '../../../boot/host/act-as-owner.ts'
import type { SiteFolder } from '../../../boot/storage/site-folder.ts'
import { jws } from '../../../kernel/cryptography/signatures.ts'
import { parseJson } from '../../../kernel/encoding/parse-json.ts'
import { runningDigest } from '../../../kernel/encoding/running-digest.ts'
import { isRefusal } from '../../../kernel/error/errors.ts'
import { peer } from '../../../kernel/identity/peer.ts'
import { admitIncomingLabel } from '../../../kernel/label/crossing.ts'
import { joinLabels, type Label, type LabelPolicy } from '../../../kernel/label/label.ts'
import { getSettings } from '../../../kernel/settings/get-settings.ts'
import { outline as resolution } from '../../../roles/resolution/outline.ts'
import { settings } from '../../../roles/resolution/settings.ts'
import {
  type ImportedSnapshotTrailer,
  max_line_bytes,
  type SnapshotManifest,
  snapshotManifest,
  snapshotTrailer,
} from '../../../roles/resolution/snapshot/model.ts'
import { readSnapshotTrailer, snapshotFile, snapshotFolder } from '../../../runtime/resolution/files/snapshot-files.ts'
import { readLastLine, splitIntoLines } from '../../../runtime/resolution/files/snapshot-lines.ts'
import { recordOperatorAction } from '../../audit/operator-action.ts'
import { OfflineCommandError } from '../../offline-command-error.ts'
import { unreadableFile } from '../../read-input-file.ts'
import { roleTask } from '../../role-task/role-task.ts'
import { runRoleTask } from '../../role-task/run-role-task.ts'
import { type EnvironmentVariables, readSiteSettings } from '../../site/site-profile.ts'
import { SignedSnapshotReader } from './signed-snapshot-reader.ts'
import { type VerifiedSnapshot, verifySnapshotSignature } from './snapshot-signature.ts'

export type RegistryImportOptions = {
  readonly file: string
  /** Whether the snapshot may replace one from another site. */
  readonly isInstead: boolean
  /** Epoch milliseconds. */
  readonly now: number
}

export type RegistryImportResult = { readonly manifest: SnapshotManifest; readonly isNew: boolean }

/**
 * Imports the snapshot as a whole or not at all; durable once it resolves. A running service then uses it for lookups.
 * Throws `OfflineCommandError`: 1 for an unreadable file, 3 for a snapshot that the site does not accept, 5 for one that
 * does not verify.
 */
export async function importRegistrySnapshot(
  folder: SiteFolder,
  env: EnvironmentVariables,
  options: RegistryImportOptions,
): Promise<RegistryImportResult> {
  const { resolved } = readSiteSettings(folder, env)
  const { matching_pattern, snapshot_mb, lookup_records } = getSettings(resolved, settings)
  if (matching_pattern !== 'lookup_only') {
    throw new OfflineCommandError(
      3,
      'this site matches records itself',
      'for lookups in a snapshot, set resolution.matching_pattern: lookup_only',
    )
  }
  const source = await openSnapshot(options.file)
  try {
    const signed = await readSnapshotEnding(folder, env, source, options.file, snapshot_mb * 1_048_576)
    const { manifest } = signed
    if (manifest.records > lookup_records) {
      throw new OfflineCommandError(
        3,
        `the snapshot has ${manifest.records} records, and this site allows ${lookup_records} at most`,
        'raise resolution.lookup_records',
      )
    }
    const input = { signed, isInstead: options.isInstead, now: options.now }
    const record = () => recordImport(folder, env, manifest)
    return {
      manifest,
      isNew: await runRoleTask(storeSnapshot, { folder, env, role: resolution, file: source.fd }, input, record),
    }
  } finally {
    await source.close()
  }
}

/** The labels in the site's own policy, and their join. Throws `OfflineCommandError`: 5 for an invalid line, 3 for a label that may not enter. */
async function readAdmittedLines(
  { manifest, peer, names }: VerifiedSnapshot,
  policy: LabelPolicy,
  lines: AsyncIterable<Uint8Array>,
): Promise<Pick<ImportedSnapshotTrailer, 'label' | 'labels'>> {
  const reader = new SignedSnapshotReader(manifest, (theirs) => {
    const admitted = admitIncomingLabel(theirs, peer, names, policy)
    if (isRefusal(admitted)) throw new OfflineCommandError(3, `${admitted.message}: nothing was imported`)
    return admitted
  })
  const labels = await reader.read(lines)
  const [first, ...others] = labels
  const label = others.reduce((joined: Label | undefined, next) => joined && joinLabels(joined, next, policy), first)
  if (!label) throw new OfflineCommandError(5, 'the labels of the snapshot cannot be joined: nothing was imported')
  return { label, labels: [...labels] }
}

/** Opens without blocking, so that a pipe does not make it wait. */
async function openSnapshot(file: string): Promise<FileHandle> {
  try {
    const handle = await runAsInvoker(() => open(file, constants.O_RDONLY | constants.O_NONBLOCK))
    if ((await handle.stat()).isFile()) return handle
    await handle.close()
  } catch (error) {
    throw unreadableFile(file, error)
  }
  throw new OfflineCommandError(1, `${file} is not a file`)
}

async function readSnapshotEnding(
  folder: SiteFolder,
  env: EnvironmentVariables,
  source: FileHandle,
  file: string,
  max_bytes: number,
): Promise<VerifiedSnapshot> {
  const { size } = await source.stat()
  if (size > max_bytes) {
    throw new OfflineCommandError(3, `${file} is larger than this site accepts`, 'raise resolution.snapshot_mb')
  }
  const lastLine = await readLastLine(source, size)
  const trailer = lastLine && snapshotTrailer.safeParse(parseJson(lastLine.line))
  if (!trailer?.success) {
    throw new OfflineCommandError(5, `${file} is not a registry snapshot, or its end is missing: nothing was imported`)
  }
  const signed = await verifySnapshotSignature(folder, env, trailer.data.signed)
  if (signed.manifest.bytes !== lastLine?.from) {
    throw new OfflineCommandError(5, `the length of ${file} differs from the signed length: nothing was imported`)
  }
  return signed
}

/** False for the current snapshot itself. Throws `OfflineCommandError` (3) for an older one, or one of another site. */
async function requireNewerSnapshot(
  file: string,
  { from, version, sha256 }: SnapshotManifest,
  isInstead: boolean,
): Promise<boolean> {
  const current = (await readSnapshotTrailer(file).catch(() => undefined))?.manifest
  if (!current) return true
  if (current.from !== from) {
    if (isInstead) return true
    throw new OfflineCommandError(
      3,
      `the current registry of this lens is from ${current.from}`,
      'to replace it: add --instead',
    )
  }
  if (current.version === version && current.sha256 === sha256) return false
  if (current.version < version) return true
  throw new OfflineCommandError(3, `the current snapshot is newer (${current.made_at}): nothing was imported`)
}

/**
 * Stores a private copy and verifies that copy, since another process may change the original meanwhile. Emits one event
 * when all holds; the import must be recorded then. False for the current snapshot itself.
 */
export const storeSnapshot = roleTask({
  name: 'store-snapshot',
  input: z.strictObject({
    signed: z.strictObject({ manifest: snapshotManifest, envelope: jws, peer, names: z.array(z.string()).readonly() }),
    isInstead: z.boolean(),
    now: z.number(),
  }),
  event: z.null(),
  output: z.boolean(),
  async run({ folder, env, file: source }, { signed, isInstead, now }, emit) {
    const { manifest, envelope } = signed
    if (source === undefined) throw new Error('no file was given')
    const file = snapshotFile(folder, manifest.lens)
    if (!(await requireNewerSnapshot(file, manifest, isInstead))) return false
    const partial = `${file}.partial`
    await mkdir(snapshotFolder(folder), { recursive: true, mode: 0o700 })
    const { labels } = readSiteSettings(folder, env)
    const writeCopy = async (copy: FileHandle) => {
      await copySignedBytes(source, copy, manifest)
      const lines = splitIntoLines(createReadStream(partial), max_line_bytes)
      const checked = await readAdmittedLines(signed, labels, lines).catch(rejectSnapshot)
      const current: ImportedSnapshotTrailer = {
        ...{ form: 'held-registry/1', manifest, signed: envelope, imported_at: new Date(now).toISOString() },
        ...{ label: checked.label, labels: checked.labels },
      }
      await copy.write(`${JSON.stringify(current)}\n`)
    }
    const beforeRename = async () => {
      await requireNewerSnapshot(file, manifest, isInstead)
      await emit(null)
    }
    await writeDurablyAsync(file, writeCopy, { draft: partial, beforeRename }).catch((error: NodeJS.ErrnoException) => {
      throw error.syscall === 'open' && error.path === partial ? convertDraftError(partial, error) : error
    })
    return true
  },
})

function convertDraftError(partial: string, { code }: NodeJS.ErrnoException): OfflineCommandError {
  if (code !== 'EEXIST') return new OfflineCommandError(1, `${partial} cannot be written: ${code}`)
  return new OfflineCommandError(3, 'another import is in progress', `if no import runs, remove ${partial}`)
}

/** Copies exactly the signed bytes. */
async function copySignedBytes(source: number, copy: FileHandle, { bytes, sha256 }: SnapshotManifest): Promise<void> {
  const digest = runningDigest()
  const chunk = Buffer.alloc(1_048_576)
  for (let offset = 0; offset < bytes; ) {
    const bytesRead = readSync(source, chunk, 0, Math.min(chunk.length, bytes - offset), offset)
    if (bytesRead === 0) break
    digest.add(chunk.subarray(0, bytesRead))
    await copy.writeFile(chunk.subarray(0, bytesRead))
    offset += bytesRead
  }
  if (digest.hex() !== sha256)
    throw new OfflineCommandError(5, 'the content differs from what was signed: nothing was imported')
}

/** Converts the fault of a signed snapshot that is not a valid registry. */
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
