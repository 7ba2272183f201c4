// Builds the bundle of x64 in two checkouts on different paths, and compares the archives: scripts/soak release.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { product } from '../../adapters/platform/product/product.ts'
import { bundleFolder } from '../../daemon/offline/bundle/bundle-manifest.ts'
import { writeReleaseKeys } from '../support/release/build-bundle.ts'
import { repositoryRoot } from '../support/repository/source-tree.ts'

/** Nothing of it is random. */
export const usual_seeds = 1

export async function soak(): Promise<Record<string, number>> {
  const work = mkdtempSync(path.join(tmpdir(), 'release-soak-'))
  try {
    const { signing } = writeReleaseKeys(work)
    const first = build(path.join(work, 'a'), ['--signing-keys', signing])
    const second = build(path.join(work, 'deeper/and/longer/b'), ['--signatures', path.dirname(first)])
    if (!readFileSync(first).equals(readFileSync(second))) throw new Error('two builds of one commit differ')
    return { bundles: 2, bytes: readFileSync(first).length }
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/** Compiles the addon in each: a cache of its own, which begins empty. So is the toolchain. */
function build(checkout: string, words: readonly string[]): string {
  execFileSync('git', ['clone', '--quiet', repositoryRoot, checkout])
  cpSync(path.join(repositoryRoot, 'node_modules'), path.join(checkout, 'node_modules'), { recursive: true })
  const out = path.join(checkout, 'dist/release')
  const env = { ...process.env, XDG_CACHE_HOME: path.join(checkout, 'dist/cache') }
  execFileSync(path.join(checkout, 'scripts/release'), ['--arch', 'x64', '--out', out, ...words], {
    env,
    stdio: 'pipe',
  })
  return path.join(out, `${bundleFolder({ version: product.version, arch: 'x64' })}.tar`)
}
