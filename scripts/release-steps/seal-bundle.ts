// Completes the folder of a bundle: modes, checksums, manifest, signatures by both algorithms; and makes its archive.
import { spawnSync } from 'node:child_process'
import { createHash, createPrivateKey, type KeyObject, sign } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { canonicalJson } from '../../daemon/kernel/encoding/canonical-json.ts'
import {
  type BundleManifest,
  bundleFolder,
  bundleManifest,
  checksums_file,
  formatChecksums,
  manifest_file,
  type ReleaseAlgorithm,
  signature_files,
} from '../../daemon/offline/bundle/bundle-manifest.ts'

type ReleaseOrigin = Pick<BundleManifest, 'version' | 'arch' | 'commit' | 'date'>
type ManifestSigner = (algorithm: ReleaseAlgorithm, manifest: Uint8Array) => Uint8Array

/** Signs with the private keys `ed25519.pem` and `ml-dsa.pem` of the folder. */
export function signByKeys(folder: string): ManifestSigner {
  const read = (file: string, types: readonly string[]): KeyObject => {
    const key = createPrivateKey(fs.readFileSync(path.join(folder, file)))
    if (!types.includes(key.asymmetricKeyType ?? ''))
      throw new Error(`${file} is not a private key of ${types.join(' or ')}`)
    return key
  }
  const keys: Readonly<Record<ReleaseAlgorithm, KeyObject>> = {
    Ed25519: read('ed25519.pem', ['ed25519']),
    'ML-DSA': read('ml-dsa.pem', ['ml-dsa-65', 'ml-dsa-87']),
  }
  return (algorithm, bytes) => sign(null, bytes, keys[algorithm])
}

/** Takes the signatures of a published bundle, or of a machine that holds the keys: two signatures by ML-DSA never are the same bytes. */
export function attachSignatures(folder: string): ManifestSigner {
  return (algorithm) => fs.readFileSync(path.join(folder, path.basename(signature_files[algorithm])))
}

type UnsealedBundle = {
  readonly folder: string
  readonly about: ReleaseOrigin
  /** Undefined leaves the bundle unsigned. */
  readonly signer: ManifestSigner | undefined
}

/** Writes checksums, manifest and signatures, also in place of earlier ones. */
export function sealBundle({ folder, about, signer }: UnsealedBundle): void {
  for (const file of [checksums_file, manifest_file, 'signatures'])
    fs.rmSync(path.join(folder, file), { recursive: true, force: true })
  setModes(folder)
  const write = (file: string, bytes: string | Uint8Array) => {
    fs.mkdirSync(path.dirname(path.join(folder, file)), { recursive: true })
    fs.writeFileSync(path.join(folder, file), bytes)
  }
  write(checksums_file, formatChecksums(listFiles(folder)))
  fs.chmodSync(path.join(folder, checksums_file), 0o644)
  const manifest = bundleManifest.parse({ format: 1, name: 'platform', ...about, files: listFiles(folder) })
  const bytes = Buffer.from(canonicalJson(manifest))
  write(manifest_file, bytes)
  if (signer)
    for (const [algorithm, file] of Object.entries(signature_files) as [ReleaseAlgorithm, string][])
      write(file, signer(algorithm, bytes))
  setModes(folder)
}

/** Files by path, in the order of the manifest. */
function listFiles(folder: string) {
  const paths = fs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
  return paths
    .toSorted((a, b) => (a < b ? -1 : 1))
    .map((file) => {
      const bytes = fs.readFileSync(path.join(folder, file))
      const sha256 = createHash('sha256').update(bytes).digest('hex')
      return { path: file, size: bytes.length, mode: readMode(folder, file), sha256 }
    })
}

function readMode(folder: string, file: string): string {
  const { mode } = fs.lstatSync(path.join(folder, file))
  return (mode & 0o777).toString(8).padStart(4, '0')
}

/** The mode of whoever builds, by umask, is not that of the bundle. */
function setModes(folder: string): void {
  fs.chmodSync(folder, 0o755)
  for (const entry of fs.readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name)
    const isRunnable = entry.isDirectory() || (fs.lstatSync(file).mode & 0o100) !== 0
    fs.chmodSync(file, isRunnable ? 0o755 : 0o644)
  }
}

type ArchiveOptions = Omit<UnsealedBundle, 'signer'> & { readonly out: string }

/** Writes the archive of the folder, which depends on its content and the date alone. */
export function archiveBundle({ folder, about, out }: ArchiveOptions): void {
  const name = bundleFolder(about)
  if (path.basename(folder) !== name) throw new Error(`the folder of the bundle must be ${name}`)
  const owner = ['--owner=0', '--group=0', '--numeric-owner']
  const order = ['--format=ustar', '--sort=name', `--mtime=@${Date.parse(about.date) / 1_000}`]
  const args = [...order, ...owner, '-C', path.dirname(folder), '-cf', out, name]
  const { status, error } = spawnSync('tar', args, { stdio: 'inherit', env: { PATH: process.env.PATH, LC_ALL: 'C' } })
  if (status !== 0) throw new Error(`tar failed: ${error?.message ?? status}`)
}
