// Runs a line of shell as another user of the machine.
import { spawnSync } from 'node:child_process'
import type { UnixUser } from '../support/site/packaged-federation.ts'

/** The standard error and exit code of a shell of this user. */
export function runShell(user: UnixUser, words: string) {
  const { status, stderr } = spawnSync('/bin/sh', ['-c', words], { cwd: '/', env: {}, encoding: 'utf8', ...user })
  return { status, stderr }
}
