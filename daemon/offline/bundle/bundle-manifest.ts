// The signed list of what a release bundle contains: format, version, architecture, origin, and each file with its digest.
import * as z from 'zod'

export const manifest_file = 'manifest.json'
/** Raw signatures over the bytes of the manifest, so that `openssl pkeyutl` verifies them too. */
export const signature_files = {
  Ed25519: 'signatures/manifest.json.ed25519.sig',
  'ML-DSA': 'signatures/manifest.json.ml-dsa.sig',
} as const
export type ReleaseAlgorithm = keyof typeof signature_files

/** A bundle has some hundred files of 130 MB in all; a larger one is not read to its end. */
export const bundleLimits = { entries: 10_000, bytes: 1_073_741_824, manifest_bytes: 4_194_304, depth: 12 } as const

/** Names that every shell and file system takes as they are; no segment is hidden, `.` or `..`. */
const bundlePath = z
  .string()
  .max(200)
  .regex(/^[A-Za-z0-9_@+][\w@+.,()-]*(\/[A-Za-z0-9_@+][\w@+.,()-]*)*$/, 'must be a relative path without hidden names')

const bundleFile = z.strictObject({
  path: bundlePath,
  size: z.int().min(0).max(bundleLimits.bytes),
  mode: z.enum(['0644', '0755']),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
})

export const bundleArchitecture = z.enum(['x64', 'arm64'])
export type BundleArchitecture = z.infer<typeof bundleArchitecture>

export const bundleManifest = z
  .strictObject({
    format: z.literal(1),
    name: z.literal('platform'),
    version: z.string().regex(/^\d{1,6}\.\d{1,6}\.\d{1,6}(-[0-9A-Za-z.-]{1,64})?$/),
    arch: bundleArchitecture,
    /** The commit that it is built from; `-dirty`: with changes that were not committed. */
    commit: z.string().regex(/^[0-9a-f]{40}(-dirty)?$/),
    /** Of the commit, since two builds of one commit are the same bytes. */
    date: z.iso.datetime(),
    files: z.array(bundleFile).min(1).max(bundleLimits.entries),
  })
  .refine(
    ({ files }) => files.every(({ path }, i) => i === 0 || (files[i - 1]?.path ?? '') < path),
    'files must be sorted by path, each once',
  )
export type BundleManifest = z.infer<typeof bundleManifest>

/** The folder that the tar archive of a bundle consists of. */
export function bundleFolder({ version, arch }: Pick<BundleManifest, 'version' | 'arch'>): string {
  return `platform-${version}-linux-${arch}`
}

/** The content of SHA256SUMS, which `sha256sum --check` reads: every file but itself and what is made after it. */
export function formatChecksums(files: readonly Pick<BundleManifest['files'][number], 'path' | 'sha256'>[]): string {
  return files
    .filter(({ path }) => path !== checksums_file)
    .map(({ path, sha256 }) => `${sha256}  ${path}\n`)
    .join('')
}

export const checksums_file = 'SHA256SUMS'
