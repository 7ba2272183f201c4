// Reads a file with a secret: a regular file of this user that nobody else can read.
import * as fs from 'node:fs'

/** `reason` names no path, so that a caller may see it; the message names path and remedy. Neither quotes the file. */
export class SecretFileError extends Error {
  readonly reason: string
  constructor(path: string, reason: string, remedy?: string) {
    super(remedy === undefined ? `${path} ${reason}` : `${path} ${reason}; ${remedy}`)
    this.name = 'SecretFileError'
    this.reason = reason
  }
}

export type SecretFileOptions = {
  readonly max_bytes?: number
  /** True for keys of certificates, which renewal programs replace behind a link. */
  readonly follows_links?: boolean
}

const default_max_bytes = 65_536

/** Folder of systemd credentials, which at most the group of the service can read. */
const systemdCredentialPath = /^\/run\/credentials\/[^/]+\/[^/]+$/

/**
 * The text of the file. All facts are those of the opened file, so that none can be swapped in between the look and the
 * read; a pipe cannot make the reader wait. Throws `SecretFileError` with what was found and the remedy.
 */
export function readSecretFile(path: string, options: SecretFileOptions = {}): string {
  const { max_bytes = default_max_bytes, follows_links = false } = options
  const file = openSecretFile(path, follows_links ? 0 : fs.constants.O_NOFOLLOW)
  try {
    checkSecretFile(path, fs.fstatSync(file), max_bytes)
    return fs.readFileSync(file, 'utf8')
  } finally {
    fs.closeSync(file)
  }
}

function openSecretFile(path: string, flags: number): number {
  try {
    return fs.openSync(path, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK | flags)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ELOOP') throw new SecretFileError(path, 'is a link', 'name the file itself')
    if (code === 'ENOENT') throw new SecretFileError(path, 'cannot be read: it does not exist')
    throw new SecretFileError(path, `cannot be read (${code})`)
  }
}

function checkSecretFile(path: string, stats: fs.Stats, max_bytes: number): void {
  if (!stats.isFile()) throw new SecretFileError(path, 'is not a regular file')
  const open_bits = systemdCredentialPath.test(path) ? 0o037 : 0o077
  if ((stats.mode & open_bits) !== 0) throw new SecretFileError(path, 'can be read by others', `run: chmod 600 ${path}`)
  const user = process.geteuid?.()
  // Another owner could change the secret of this user; root may read the files of all.
  if (stats.uid !== user && stats.uid !== 0 && user !== 0)
    throw new SecretFileError(path, `belongs to user ${stats.uid}`, `allowed are user ${user} and root`)
  if (stats.size > max_bytes)
    throw new SecretFileError(path, `has ${stats.size} bytes`, `at most ${max_bytes} are allowed`)
}
