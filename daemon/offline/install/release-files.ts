// The files of a release that are installed: those of a verified bundle, or the running executable alone.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { isSea } from 'node:sea'
import { product } from '../../../adapters/platform/product/product.ts'
import { manifest_file, signature_files } from '../bundle/bundle-manifest.ts'
import { verifyBundle } from '../bundle/verify-bundle.ts'
import { OfflineCommandError } from '../offline-command-error.ts'
import type { ReleaseFile } from './installation-items.ts'
import { digestFile } from './observe-item.ts'

/** A bundle, and the folder of the operator's release keys. */
export type BundleLocation = { readonly folder: string; readonly keys: string }

/** Throws `OfflineCommandError`: what `verifyBundle` throws, and 3 for a release of another version. */
export function findRelease(bundle: BundleLocation | undefined): readonly ReleaseFile[] {
  return bundle ? readBundleFiles(bundle) : [findOwnExecutable()]
}

/** From sources the program is not one file. */
function findOwnExecutable(): ReleaseFile {
  const remedy = 'run scripts/build, then dist/platform install'
  if (!isSea()) throw new OfflineCommandError(3, 'only the packaged executable can be installed', remedy)
  const source = fs.realpathSync(process.execPath)
  return { path: 'platform', source, mode: 0o755, sha256: digestFile(source) }
}

/** Copies are compared with these digests, so that what was verified is what is installed. */
function readBundleFiles({ folder, keys }: BundleLocation): ReleaseFile[] {
  const { manifest } = verifyBundle({ folder, keys })
  if (!fs.statSync(folder).isDirectory())
    throw new OfflineCommandError(3, `${folder} is an archive`, `unpack it: tar -xf ${folder}`)
  if (manifest.version !== product.version) {
    const message = `the bundle is of version ${manifest.version}, and this command of version ${product.version}`
    throw new OfflineCommandError(3, message, `run ${join(folder, 'platform')} install`)
  }
  // The manifest does not name itself, nor its signatures.
  const seal = [manifest_file, ...Object.values(signature_files)].filter((path) => fs.existsSync(join(folder, path)))
  return [
    ...manifest.files.map(({ path, mode, sha256 }) => ({
      path,
      source: join(folder, path),
      mode: Number.parseInt(mode, 8),
      sha256,
    })),
    ...seal.map((path) => ({ path, source: join(folder, path), mode: 0o644, sha256: digestFile(join(folder, path)) })),
  ]
}
