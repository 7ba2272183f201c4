// The executable of the previous release, built once from its commit; its digest is pinned in scripts/previous-release.
import { spawnSync } from 'node:child_process'
import path from 'node:path'
import { repositoryRoot } from '../repository/source-tree.ts'
import type { ToolRequirement } from '../runner/requires.ts'

let found: { readonly program: string; readonly hint: string } | undefined

/** Absent where the history lacks its commit, as in a shallow clone. */
export function previousReleaseRequirement(): ToolRequirement {
  const { program, hint } = build()
  return { isPresent: program !== '', name: 'the previous release', hint }
}

/** Throws where it could not be built. */
export function findPreviousRelease(): string {
  const { program, hint } = build()
  if (program === '') throw new Error(hint)
  return program
}

function build(): { readonly program: string; readonly hint: string } {
  if (found) return found
  const script = path.join(repositoryRoot, 'scripts/previous-release.mjs')
  const { status, stdout, stderr } = spawnSync(process.execPath, [script], { encoding: 'utf8' })
  found = status === 0 ? { program: stdout.trim(), hint: '' } : { program: '', hint: stderr.trim() }
  return found
}
