// The files of a release that are installed: those of the bundle in which the executable lies, or the executable alone.
import * as fs from 'node:fs'
import { isSea } from 'node:sea'
import { OfflineCommandError } from '../offline-command-error.ts'
import type { ReleaseFile } from './installation-items.ts'
import { digestFile } from './observe-item.ts'

/** Throws `OfflineCommandError` (3) from sources, which are not one file. */
export function findRelease(): readonly ReleaseFile[] {
  if (!isSea())
    throw new OfflineCommandError(
      3,
      'only the packaged executable can be installed',
      'run scripts/build, then dist/platform install',
    )
  const source = fs.realpathSync(process.execPath)
  return [{ path: 'platform', source, mode: 0o755, sha256: digestFile(source) }]
}
