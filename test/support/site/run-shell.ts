// Runs a line of shell as another user of the machine, and lists the lines that must fail.
import { spawnSync } from 'node:child_process'
import type { UnixUser } from '../command/run-executable.ts'

/** The standard error and exit code of a shell of this user. */
export function runShell(user: UnixUser, words: string) {
  const { status, stderr } = spawnSync('/bin/sh', ['-c', words], { cwd: '/', env: {}, encoding: 'utf8', ...user })
  return { status, stderr }
}

/** Commands in the folder of a site that the user of one role must not run; `SITE` is the process of the site role. */
export const forbiddenCommands: readonly (readonly [name: string, words: string])[] = [
  ['read a key', 'cat keys/*.json'],
  ['list the keys', 'ls keys'],
  ['list the wrapping keys of secrets', 'ls keys/secrets'],
  ['read messages', 'ls filedrop'],
  ['read what waits for a courier', 'ls filedrop/bravo/out/ready'],
  ['bring a message', 'touch filedrop/bravo/in/new/message.env.json'],
  ['read whom the site trusts', 'ls peers'],
  ['read the key of the site role', 'ls identity/roles/site'],
  ['read the database of the site role', 'cat data/site/site.db'],
  ['replace the socket of the site role', 'rm -f run/site/sock'],
  ['put the folder of the site role aside', 'mv run/site run/elsewhere'],
  ['put something beside the folders of the roles', 'mkdir run/another'],
  ['make a database of another role', 'mkdir data/another'],
  ['list a key of its own', 'touch identity/token-keys.json'],
  ['open the list of keys to itself', 'chmod 666 identity/token-keys.json'],
  ['take the list of keys away', 'rm -f identity/token-keys.json'],
  ['put a list of its own in the place', 'mv identity/token-keys.json identity/other'],
  ['put a list of its own beside it', 'touch identity/token-keys.json.tmp'],
  ['give another role a key', 'touch identity/roles/site/token-x.json'],
  ['bring a revoked token back', 'truncate -s 0 identity/revoked.jsonl'],
  ['change the profile', 'touch profile.yaml'],
  ['take the lock of the site role', 'touch run/site/lock'],
  ['stop the site role', `kill -0 "$SITE"`],
  ['look into the process of the site role', `cat "/proc/$SITE/environ"`],
  ['see what the site role has open', `ls "/proc/$SITE/fd"`],
]
