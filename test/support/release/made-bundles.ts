// The bundles of these sources for both architectures, made once by scripts/release with keys of the test, and how each executable is run.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { product } from '../../../adapters/platform/product/product.ts'
import { bundleFolder } from '../../../daemon/offline/bundle/bundle-manifest.ts'
import { repositoryRoot } from '../repository/source-tree.ts'
import { writeReleaseKeys } from './build-bundle.ts'

export type MadeBundles = {
  readonly out: string
  readonly keys: string
  readonly folders: Readonly<Record<'x64' | 'arm64', string>>
  remove(): void
}

/** Takes a minute for each architecture, and another for each on a machine that has not compiled SQLite yet. */
export function makeBundles(): MadeBundles {
  const out = mkdtempSync(path.join(tmpdir(), 'bundles-'))
  const { keys, signing } = writeReleaseKeys(out)
  const args = ['--dirty', '--signing-keys', signing, '--out', out]
  execFileSync(path.join(repositoryRoot, 'scripts/release'), args, { stdio: 'pipe' })
  const folder = (arch: 'x64' | 'arm64') => path.join(out, bundleFolder({ version: product.version, arch }))
  return {
    ...{ out, keys, folders: { x64: folder('x64'), arm64: folder('arm64') } },
    remove: () => rmSync(out, { recursive: true, force: true }),
  }
}

/** Writes a program that runs a command line in place of the executable. */
export function writeLauncher(file: string, commandLine: string): string {
  writeFileSync(file, `#!/bin/sh\n${commandLine}\n`, { mode: 0o755 })
  return file
}

/** A root with the libraries of another system and the bundle in /opt/platform; the launcher runs its executable there. */
export function enterRoot(
  libraries: string,
  bundle: string,
  work: string,
): { readonly root: string; readonly program: string } {
  const root = path.join(work, 'root')
  cpSync(libraries, root, { recursive: true, verbatimSymlinks: true })
  for (const name of ['proc', 'dev', 'tmp', 'opt']) mkdirSync(path.join(root, name), { recursive: true })
  cpSync(bundle, path.join(root, 'opt/platform'), { recursive: true })
  const mounts = `mount -t proc proc ${root}/proc && mount --rbind /dev ${root}/dev`
  const enter = `exec unshare --mount sh -c '${mounts} && exec chroot ${root} /opt/platform/platform "$@"' sh "$@"`
  return { root, program: writeLauncher(path.join(work, 'platform-in-root'), enter) }
}
