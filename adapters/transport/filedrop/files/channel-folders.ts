// The folders of one peer, and the marker file that distinguishes them from an empty mount point.

import * as fs from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { parseJson } from '../../../../daemon/kernel/encoding/parse-json.ts'
import { refuse } from '../../../../daemon/kernel/error/errors.ts'
import { syncFolder } from '../../../platform/durable-file/sync-folder.ts'
import { writeDurably } from '../../../platform/durable-file/write-durably.ts'
import { readOwnFile } from './read-own-file.ts'

export type ChannelFolders = { readonly [K in keyof typeof channelFolderPaths]: string } & { readonly home: string }

/** Paths below the folder of a channel. */
export const channelFolderPaths = {
  tmp: 'out/tmp',
  ready: 'out/ready',
  sent: 'out/sent',
  fresh: 'in/new',
  work: 'in/work',
  done: 'in/done',
  quarantine: 'in/quarantine',
} as const

export type ChannelFolderName = keyof typeof channelFolderPaths
export const channelFolderNames = Object.keys(channelFolderPaths) as ChannelFolderName[]

/** Folders that must stay what they are, by their paths below the folder of the channel. */
export const everyFolderPath = ['', 'in', 'out', ...Object.values(channelFolderPaths)]

const channelFile = z.strictObject({
  v: z.literal(1),
  type: z.literal('platform.channel'),
  site: z.string(),
  peer: z.string(),
  enrolled: z.iso.datetime(),
})
export type ChannelFile = z.infer<typeof channelFile>

/** `peer` has been checked to be a site name: it cannot leave `root`. */
export function foldersOf(root: string, peer: string): ChannelFolders {
  const home = join(root, peer)
  const folders = Object.entries(channelFolderPaths).map(([name, path]) => [name, join(home, path)])
  return { home, ...(Object.fromEntries(folders) as { [K in keyof typeof channelFolderPaths]: string }) }
}

/** The name that both ends give to the link from one site to another, in statements and in the journal. */
export function channelName(from: string, to: string): string {
  return `filedrop/${from}/${to}`
}

/** Folders 0700, CHANNEL.json 0600 and last. Throws when the disk says no, or a link is in the way. */
export function makeFolders(folders: ChannelFolders, content: Omit<ChannelFile, 'v' | 'type'>): void {
  const linked = findLinked(folders)
  if (linked !== undefined) throw refuse('conflict', linked)
  for (const name of channelFolderNames) {
    fs.mkdirSync(folders[name], { recursive: true, mode: 0o700 })
    fs.chmodSync(folders[name], 0o700)
    syncFolder(join(folders[name], '..'))
  }
  for (const folder of [folders.home, join(folders.home, 'in'), join(folders.home, 'out')]) fs.chmodSync(folder, 0o700)
  const text = `${JSON.stringify({ v: 1, type: 'platform.channel', ...content } satisfies ChannelFile, undefined, 2)}\n`
  writeDurably(join(folders.home, 'CHANNEL.json'), text)
}

export function hasChannelFile(folders: ChannelFolders): boolean {
  return fs.lstatSync(join(folders.home, 'CHANNEL.json'), { throwIfNoEntry: false }) !== undefined
}

/** Why the folders are not to be touched; undefined when all is as enrolment left it. */
export function folderFault(folders: ChannelFolders, site: string, peer: string): string | undefined {
  const text = readOwnFile(join(folders.home, 'CHANNEL.json'))
  if (text === undefined) return 'CHANNEL.json is missing: mount the file system, or restore the file from a backup'
  const read = channelFile.safeParse(parseJson(text))
  if (!read.success) return 'CHANNEL.json is damaged: restore it from a backup'
  if (read.data.site !== site || read.data.peer !== peer) return 'CHANNEL.json belongs to another channel'
  const linked = findLinked(folders)
  if (linked !== undefined) return linked
  const lost = channelFolderNames.find((name) => !fs.existsSync(folders[name]))
  return lost === undefined ? undefined : describeFolderFault(channelFolderPaths[lost], 'ENOENT')
}

/** A link in the place of a folder leads to files that are not the channel's. */
function findLinked({ home }: ChannelFolders): string | undefined {
  const linked = everyFolderPath.find((path) => {
    const stat = fs.lstatSync(join(home, path), { throwIfNoEntry: false })
    return stat && !stat.isDirectory()
  })
  return linked === undefined ? undefined : describeFolderFault(linked, 'ENOTDIR')
}

/** `path`: below the folder of the channel. `code`: of the attempt to open it as a folder, without following links. */
export function describeFolderFault(path: string, code: string): string {
  const what = `the folder ${path || 'of the channel'}`
  if (code === 'ENOENT') return `${what} is missing: restore it`
  if (code === 'ELOOP' || code === 'ENOTDIR')
    return `${what} is a link or a file: put the folder back, or mount a file system there; links are not followed`
  return `${what} cannot be opened (${code})`
}
