// Takes in a snapshot of another site's registry: whole, signed for this site by a pinned peer, and never an older one.
import { constants, createReadStream } from 'node:fs'
import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises'
import { isRefused } from '../../kernel/errors.ts'
import { runningDigest } from '../../kernel/running-digest.ts'
import { settings } from '../../roles/resolution/settings.ts'
import { ending, type Holding, type Manifest, most_line_bytes } from '../../roles/resolution/snapshot/model.ts'
import { asInvoker, asOwnerOf } from '../acting.ts'
import { valuesOf } from '../profile.ts'
import { syncFolder } from '../resolution/durable-file.ts'
import { heldIn, snapshotFile, snapshotFolder } from '../resolution/snapshot-files.ts'
import { lastLineOf, linesOf } from '../resolution/snapshot-lines.ts'
import { dataOf, type SiteFolder } from '../site-folder.ts'
import { record } from './deed.ts'
import { Objection } from './objection.ts'
import { type Environment, siteSettings } from './site-profile.ts'
import { SnapshotReading } from './snapshot-reading.ts'
import { type Signed, signedFor } from './snapshot-signature.ts'

export type Importing = {
  readonly file: string
  /** The snapshot of this site may take the place of another site's. */
  readonly isInstead: boolean
  /** Epoch milliseconds. */
  readonly now: number
}

export type Imported = { readonly manifest: Manifest; readonly isNew: boolean }

/**
 * Refused whole or taken in whole, and durable when it resolves; a running service looks records up in it from then on. Throws `Objection`: 1 for a
 * file that cannot be read, 3 for what the site does not take, 5 for what does not verify.
 */
export async function importRegistry(folder: SiteFolder, env: Environment, given: Importing): Promise<Imported> {
  const { resolved, labels } = siteSettings(folder, env)
  const { matching_pattern, snapshot_mb, lookup_records } = valuesOf(resolved, settings)
  if (matching_pattern !== 'lookup_only') {
    throw new Objection(
      3,
      'this site matches records itself',
      'a site that looks up in a snapshot has resolution.matching_pattern: lookup_only',
    )
  }
  const source = await opened(given.file)
  try {
    const signed = await readEnding(folder, env, source, given.file, snapshot_mb * 1_048_576)
    const { manifest } = signed
    if (manifest.records > lookup_records) {
      const most = `this site looks up in ${lookup_records} at most`
      throw new Objection(3, `it has ${manifest.records} records, and ${most}`, 'raise resolution.lookup_records')
    }
    return await asOwnerOf(dataOf(folder, 'resolution'), async () => {
      const isNew = await requireNewer(snapshotFile(folder, manifest.lens), manifest, given.isInstead)
      if (!isNew) return { manifest, isNew }
      await take(folder, source, (lines) => new SnapshotReading(signed, labels).read(lines), {
        signed,
        record: () => asOwnerOf(dataOf(folder, 'site'), () => recorded(folder, env, manifest)),
        again: () => requireNewer(snapshotFile(folder, manifest.lens), manifest, given.isInstead),
        now: given.now,
      })
      return { manifest, isNew }
    })
  } finally {
    await source.close()
  }
}

/** Never waits for somebody at the other end of a pipe. */
async function opened(file: string): Promise<FileHandle> {
  try {
    const found = await asInvoker(() => open(file, constants.O_RDONLY | constants.O_NONBLOCK))
    if ((await found.stat()).isFile()) return found
    await found.close()
  } catch (error) {
    throw new Objection(1, `${file} cannot be read: ${(error as NodeJS.ErrnoException).code}`)
  }
  throw new Objection(1, `${file} is no file`)
}

async function readEnding(
  folder: SiteFolder,
  env: Environment,
  source: FileHandle,
  file: string,
  most_bytes: number,
): Promise<Signed> {
  const { size } = await source.stat()
  if (size > most_bytes) {
    throw new Objection(3, `${file} is larger than this site takes`, 'raise resolution.snapshot_mb')
  }
  const last = await lastLineOf(source, size)
  const read = last && ending.safeParse(jsonIn(last.text))
  if (!read?.success) {
    throw new Objection(5, `${file} is no snapshot of a registry, or its end is missing: nothing was taken in`)
  }
  const signed = await signedFor(folder, env, read.data.signed)
  if (signed.manifest.bytes !== last?.from) {
    throw new Objection(5, `${file} is not of the length that was signed: nothing was taken in`)
  }
  return signed
}

/** False for the very one that is held. */
async function requireNewer(file: string, { from, version, sha256 }: Manifest, isInstead: boolean): Promise<boolean> {
  const held = (await heldIn(file).catch(() => undefined))?.manifest
  if (!held) return true
  if (held.from !== from) {
    if (isInstead) return true
    throw new Objection(3, `the registry that is held of this lens is of ${held.from}`, 'to replace it: add --instead')
  }
  if (held.version === version && held.sha256 === sha256) return false
  if (held.version < version) return true
  throw new Objection(3, `a newer snapshot is held, made at ${held.made_at}: nothing was taken in`)
}

type Taking = {
  readonly signed: Signed
  readonly record: () => Promise<void>
  readonly again: () => Promise<boolean>
  readonly now: number
}

/** Into a file of its own first: what is checked is what is kept, whoever writes to the other one meanwhile. */
async function take(
  folder: SiteFolder,
  source: FileHandle,
  read: (lines: AsyncIterable<string>) => Promise<Pick<Holding, 'label' | 'labels'>>,
  { signed, record: tell, again, now }: Taking,
): Promise<void> {
  const { manifest, envelope } = signed
  const file = snapshotFile(folder, manifest.lens)
  const partial = `${file}.partial`
  await mkdir(snapshotFolder(folder), { recursive: true, mode: 0o700 })
  const copy = await claimed(partial)
  try {
    await copied(source, copy, manifest)
    const found = await read(linesOf(createReadStream(partial), most_line_bytes)).catch(unfit)
    const held: Holding = {
      ...{ form: 'held-registry/1', manifest, signed: envelope, imported_at: new Date(now).toISOString() },
      ...{ label: found.label, labels: found.labels },
    }
    await copy.write(`${JSON.stringify(held)}\n`)
    await copy.sync()
    await again()
    await tell()
    await rename(partial, file)
    syncFolder(snapshotFolder(folder))
  } catch (error) {
    await rm(partial, { force: true })
    throw error
  } finally {
    await copy.close()
  }
}

async function claimed(partial: string): Promise<FileHandle> {
  try {
    return await open(partial, 'wx', 0o600)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'EEXIST') throw new Objection(1, `${partial} cannot be written: ${code}`)
    throw new Objection(3, 'another import is at work', `if none is, remove ${partial}`)
  }
}

/** Just the bytes that were signed. */
async function copied(source: FileHandle, copy: FileHandle, { bytes, sha256 }: Manifest): Promise<void> {
  const digest = runningDigest()
  const piece = Buffer.alloc(1_048_576)
  for (let at = 0; at < bytes; ) {
    const { bytesRead } = await source.read(piece, 0, Math.min(piece.length, bytes - at), at)
    if (bytesRead === 0) break
    digest.add(piece.subarray(0, bytesRead))
    await copy.writeFile(piece.subarray(0, bytesRead))
    at += bytesRead
  }
  if (digest.hex() !== sha256) throw new Objection(5, 'its content is not what was signed: nothing was taken in')
}

/** The peer has signed it, and yet it is no registry. */
function unfit(error: unknown): never {
  if (error instanceof Objection) throw error
  if (isRefused(error)) throw new Objection(3, `${error.message}: nothing was taken in`)
  if (error instanceof RangeError) throw new Objection(5, `${error.message}: nothing was taken in`)
  throw error
}

async function recorded(folder: SiteFolder, env: Environment, manifest: Manifest): Promise<void> {
  const { from, lens, lens_version, version, made_at, records, entities, sha256 } = manifest
  const detail = { lens, lens_version, version, made_at, records, entities, sha256 }
  await record(folder, env, { action: 'site.registry.import', target: from, detail })
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
