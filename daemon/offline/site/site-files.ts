// The files of a site besides its databases: profile, keys, identity, people, peers, and channels with their messages.
import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import { basename, dirname, join } from 'node:path'
import * as z from 'zod'
import { writeFully } from '../../../adapters/platform/durable-file/write-durably.ts'
import { type SiteFolder, siteFolder } from '../../boot/storage/site-folder.ts'
import { siteName } from '../../kernel/messaging/statement.ts'
import { OfflineCommandError } from '../offline-command-error.ts'
import { openBackupFile } from '../store/backup-manifest.ts'

/** Below the folder of the site; no part leads out of it, and none is hidden. */
const filePath = z
  .string()
  .max(1_024)
  .regex(/^(?:profile\.yaml|(?:keys|identity|peers|filedrop)(?:\/[\w-][\w.@-]*)*)$/)

/** `files`: with their content. `messages`: digests of those that lie beside, since they may be many. */
export const siteFiles = z.strictObject({
  v: z.literal(1),
  type: z.literal('platform.site-files'),
  site: siteName,
  folders: z.array(filePath),
  files: z.array(z.strictObject({ path: filePath, content: z.base64() })),
  messages: z.array(z.strictObject({ path: filePath, sha256: z.string() })),
})
export type SiteFiles = z.infer<typeof siteFiles>

/** A key, a pinned peer and a list of tokens are far below. */
const max_file_bytes = 16_777_216

/**
 * Reads the files while the site may run, and copies messages into the folder `to`: a file that moves meanwhile is
 * taken at one of its places or at none. Blocks until it is done, so that it acts as one user. Leaves out locks, links, and names that this site does not give.
 */
export function collectSiteFiles(folder: SiteFolder, site: string, to: string): SiteFiles {
  const found: SiteFiles = { v: 1, type: 'platform.site-files', site, folders: [], files: [], messages: [] }
  const addFile = (path: string, from: string) => {
    const file = openRegularFile(from)
    if (file === undefined) return
    try {
      if (isMessage(path)) found.messages.push({ path, sha256: copyFile(file, join(to, path)) })
      else found.files.push({ path, content: readSmallFile(file, from).toString('base64') })
    } finally {
      fs.closeSync(file)
    }
  }
  const addFolder = (path: string, from: string) => {
    found.folders.push(path)
    if (isMessage(`${path}/x`)) fs.mkdirSync(join(to, path), { mode: 0o700 })
    for (const entry of listEntries(from)) {
      const below = `${path}/${entry.name}`
      if (entry.name === 'lock' || !filePath.safeParse(below).success) continue
      if (entry.isDirectory()) addFolder(below, join(from, entry.name))
      else addFile(below, join(from, entry.name))
    }
  }
  addFile('profile.yaml', folder.profile)
  for (const name of ['keys', 'identity', 'peers', 'filedrop'] as const) addFolder(name, folder[name])
  return found
}

/** Creates the files of a backup in a folder that exists and is empty: modes 0700 and 0600, durable when it returns. */
export function writeSiteFiles(dir: string, from: string, { folders, files, messages }: SiteFiles): void {
  for (const path of folders) fs.mkdirSync(join(dir, path), { mode: 0o700 })
  const { data, run } = siteFolder(dir)
  for (const path of [data, run]) fs.mkdirSync(path, { mode: 0o700 })
  for (const { path, content } of files)
    fs.writeFileSync(join(dir, path), Buffer.from(content, 'base64'), { flag: 'wx', mode: 0o600, flush: true })
  for (const { path, sha256 } of messages) {
    const file = openBackupFile(join(from, dirname(path)), basename(path))
    try {
      if (copyFile(file, join(dir, path)) === sha256) continue
    } finally {
      fs.closeSync(file)
    }
    throw new OfflineCommandError(5, `${path} of the backup is not what the site stored`)
  }
}

/** CHANNEL.json is no message: without it the channel would not be one. */
function isMessage(path: string): boolean {
  return path.startsWith('filedrop/') && basename(path) !== 'CHANNEL.json'
}

/** Into a new file, which must not exist or be a link. Returns the SHA-256 of its content. */
function copyFile(from: number, to: string): string {
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = fs.constants
  const target = fs.openSync(to, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600)
  try {
    const hash = createHash('sha256')
    const chunk = Buffer.alloc(1_048_576)
    for (let read = fs.readSync(from, chunk); read > 0; read = fs.readSync(from, chunk)) {
      hash.update(chunk.subarray(0, read))
      writeFully(target, chunk.subarray(0, read))
    }
    fs.fsyncSync(target)
    return hash.digest('hex')
  } finally {
    fs.closeSync(target)
  }
}

function readSmallFile(file: number, path: string): Buffer {
  if (fs.fstatSync(file).size > max_file_bytes)
    throw new OfflineCommandError(1, `${path} is larger than ${max_file_bytes} bytes`, 'move it out of the site')
  return fs.readFileSync(file)
}

function listEntries(folder: string): fs.Dirent[] {
  try {
    return fs.readdirSync(folder, { withFileTypes: true })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

/** Undefined for a file that is gone, or is not a regular file. */
function openRegularFile(path: string): number | undefined {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = fs.constants
  let file: number
  try {
    file = fs.openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ELOOP' || code === 'ENXIO') return undefined
    throw error
  }
  if (fs.fstatSync(file).isFile()) return file
  fs.closeSync(file)
  return undefined
}
