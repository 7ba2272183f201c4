// Runs a line of shell as another user of the machine.
import { spawnSync } from 'node:child_process'
import type { UnixUser } from '../support/site/packaged-federation.ts'

/** What a shell of this user says to the words, and how it ends. */
export function runShell(user: UnixUser, words: string) {
  const { status, stderr } = spawnSync('/bin/sh', ['-c', words], { cwd: '/', env: {}, encoding: 'utf8', ...user })
  return { status, stderr }
}
