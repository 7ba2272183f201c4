// Verifies a release bundle offline: both signatures over its manifest, and that the bundle is exactly what the manifest lists.
import { verify } from 'node:crypto'
import * as fs from 'node:fs'
import path from 'node:path'
import { canonicalJson } from '../../kernel/encoding/canonical-json.ts'
import { parseExactJson } from '../../kernel/encoding/parse-json.ts'
import { OfflineCommandError } from '../offline-command-error.ts'
import type { BundleContent, BundleEntry } from './bundle-entry.ts'
import {
  type BundleArchitecture,
  type BundleManifest,
  bundleArchitecture,
  bundleFolder,
  bundleManifest,
  manifest_file,
  type ReleaseAlgorithm,
  signature_files,
} from './bundle-manifest.ts'
import { readBundleArchive } from './read-bundle-archive.ts'
import { readBundleFolder } from './read-bundle-folder.ts'
import { findKeyFault, type ReleaseKey, readReleaseKeys } from './release-keys.ts'

export type BundleVerification = {
  /** An unpacked bundle, or its tar archive. */
  readonly folder: string
  /** PEM files of release keys; they never come from the bundle. */
  readonly keys: string
  /** Default: that of this machine. */
  readonly arch?: BundleArchitecture | undefined
  /** Epoch milliseconds. */
  readonly now?: number
}

export type VerifiedBundle = {
  readonly manifest: BundleManifest
  /** The keys that signed, by their files. */
  readonly signed_by: readonly Pick<ReleaseKey, 'file' | 'algorithm' | 'fingerprint'>[]
}

/** Throws `OfflineCommandError`: 5 with every failure as a detail, 1 or 2 where bundle or keys cannot be read. */
export function verifyBundle({ folder, keys, arch, now = Date.now() }: BundleVerification): VerifiedBundle {
  requireOutside(keys, folder)
  const known = readReleaseKeys(keys)
  const content = readContent(folder)
  const entries = new Map(content.entries.map((entry) => [entry.path, entry]))
  const manifestBytes = entries.get(manifest_file)?.bytes
  const manifest = manifestBytes && readManifest(manifestBytes)
  const signers = manifestBytes
    ? findSigners(manifestBytes, entries, known, manifest ? [now, Date.parse(manifest.date)] : [now])
    : { signed_by: [], failures: [] }
  const failures = [
    ...content.failures,
    ...signers.failures,
    ...(manifest
      ? findContentFailures(manifest, content, arch ?? hostArchitecture())
      : [describeUnread(manifestBytes)]),
  ]
  if (failures.length === 0 && manifest) return { manifest, signed_by: signers.signed_by }
  const count = failures.length === 1 ? '1 failure' : `${failures.length} failures`
  throw new OfflineCommandError(
    5,
    `the bundle ${folder} is refused: ${count}`,
    'do not install it; copy it again from the medium, or request it again from whom it came',
    failures.slice(0, max_details),
  )
}

const max_details = 50

function describeUnread(bytes: Uint8Array | undefined): string {
  return `${manifest_file}: ${bytes ? 'is not a manifest of a release in canonical JSON' : 'is missing'}`
}

function hostArchitecture(): BundleArchitecture | undefined {
  return bundleArchitecture.safeParse(process.arch).data
}

/** Keys that came with the bundle prove nothing. */
function requireOutside(keys: string, folder: string): void {
  const [inner, outer] = [resolveLinks(keys), resolveLinks(folder)]
  if (inner === outer || inner.startsWith(`${outer}${path.sep}`))
    throw new OfflineCommandError(
      2,
      `the keys ${keys} are inside the bundle, so that they prove nothing`,
      'name a folder with release keys that came by another way',
    )
}

function resolveLinks(file: string): string {
  try {
    return fs.realpathSync(file)
  } catch {
    return path.resolve(file)
  }
}

function readContent(folder: string): BundleContent {
  try {
    return fs.statSync(folder).isDirectory() ? readBundleFolder(folder) : readBundleArchive(folder)
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'does not exist' : 'cannot be read'
    throw new OfflineCommandError(1, `${folder} ${reason}`, 'name the folder or the tar archive of a bundle')
  }
}

function readManifest(bytes: Uint8Array): BundleManifest | undefined {
  return bundleManifest.safeParse(parseExactJson(bytes, canonicalJson)).data
}

/** One signature of each algorithm: neither may be missing, so that breaking one algorithm is not enough. */
function findSigners(
  manifest: Uint8Array,
  entries: ReadonlyMap<string, BundleEntry>,
  keys: readonly ReleaseKey[],
  times: readonly number[],
): { readonly signed_by: VerifiedBundle['signed_by']; readonly failures: readonly string[] } {
  const signed_by: ReleaseKey[] = []
  const failures: string[] = []
  for (const [algorithm, file] of Object.entries(signature_files) as [ReleaseAlgorithm, string][]) {
    const signature = entries.get(file)?.bytes
    const signer = signature && keys.find((key) => key.algorithm === algorithm && holds(manifest, signature, key))
    const fault = signer && findKeyFault(signer, times)
    if (!signature) failures.push(`${file}: the signature by ${algorithm} is missing`)
    else if (!signer) failures.push(`${file}: no known key of ${algorithm} verifies this signature`)
    else if (fault !== undefined) failures.push(`${file}: the key ${fault}`)
    else signed_by.push(signer)
  }
  return {
    signed_by: signed_by.map(({ file, algorithm, fingerprint }) => ({ file, algorithm, fingerprint })),
    failures,
  }
}

function holds(data: Uint8Array, signature: Uint8Array, { key }: ReleaseKey): boolean {
  try {
    return verify(null, data, key, signature)
  } catch {
    return false
  }
}

function findContentFailures(
  manifest: BundleManifest,
  { folder, entries }: BundleContent,
  arch: BundleArchitecture | undefined,
): string[] {
  const listed = new Map(manifest.files.map((file) => [file.path, file]))
  const found = new Map(entries.map((entry) => [entry.path, entry]))
  const expected = bundleFolder(manifest)
  const machine = readMachine(found.get('platform')?.head)
  return [
    ...(manifest.arch === arch ? [] : [`the bundle is for ${manifest.arch}, not for ${arch ?? process.arch}`]),
    ...(machine === manifest.arch ? [] : [`platform: is not an executable for ${manifest.arch}`]),
    ...(folder === undefined || folder === expected ? [] : [`the folder of the archive is not ${expected}`]),
    ...manifest.files.flatMap(({ path }) => (found.has(path) ? [] : [`${path}: is missing`])),
    ...entries.flatMap((entry) => findEntryFailure(entry, listed, manifest) ?? []),
  ]
}

function findEntryFailure(
  { path, kind, mode, size, sha256 }: BundleEntry,
  listed: ReadonlyMap<string, BundleManifest['files'][number]>,
  manifest: BundleManifest,
): string | undefined {
  if (kind === 'other') return `${path}: is a link or a device`
  if (kind === 'folder') return findFolderFailure(path, mode, manifest)
  const file = listed.get(path)
  if (!file) return isUnlisted(path) ? findModeFailure(path, mode, '0644') : `${path}: is not in the manifest`
  if (size !== file.size) return `${path}: has ${size} bytes, not ${file.size}`
  if (sha256 !== file.sha256) return `${path}: has the SHA-256 ${sha256}, not ${file.sha256}`
  return findModeFailure(path, mode, file.mode)
}

/** The manifest cannot list itself nor the signatures over it. */
function isUnlisted(path: string): boolean {
  return path === manifest_file || Object.values<string>(signature_files).includes(path)
}

function findFolderFailure(path: string, mode: number, { files }: BundleManifest): string | undefined {
  const isUsed = path === 'signatures' || files.some((file) => file.path.startsWith(`${path}/`))
  return isUsed ? findModeFailure(path, mode, '0755') : `${path}: is a folder that is not in the manifest`
}

function findModeFailure(path: string, mode: number, expected: string): string | undefined {
  const octal = mode.toString(8).padStart(4, '0')
  return octal === expected ? undefined : `${path}: has the mode ${octal}, not ${expected}`
}

/** The architecture of an ELF file of 64 bits, from its header. */
function readMachine(head: Uint8Array | undefined): BundleArchitecture | undefined {
  const bytes = Buffer.from(head ?? [])
  if (bytes.length < 20 || bytes.readUInt32BE(0) !== 0x7f454c46 || bytes[4] !== 2) return undefined
  const machines: Readonly<Record<number, BundleArchitecture>> = { 62: 'x64', 183: 'arm64' }
  return machines[bytes.readUInt16LE(18)]
}
