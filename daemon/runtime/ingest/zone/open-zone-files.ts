// Landing zones on the disk of this machine: a folder for each pipeline, below the one of its tenant.
import { randomBytes } from 'node:crypto'
import { lstat, mkdir, opendir, readdir, readFile, rename, rm, unlink } from 'node:fs/promises'
import { join, relative } from 'node:path'
import type { BodyScanner } from '../../../../adapters/platform/body-scanner/body-scanner.ts'
import { syncFolderAsync } from '../../../../adapters/platform/durable-file/sync-folder.ts'
import { writeDurablyAsync } from '../../../../adapters/platform/durable-file/write-durably.ts'
import { parseJsonAs } from '../../../kernel/encoding/parse-json.ts'
import { isRefusal, refuse } from '../../../kernel/error/errors.ts'
import type { WaitingFile } from '../../../roles/ingest/landing-zone/model.ts'
import {
  type CarriedReceipt,
  carriedReceipt,
  type LandingZoneFiles,
  type ZonePlace,
} from '../../../roles/ingest/landing-zone/zone-files.ts'
import { identify, takeCopy } from './take-copy.ts'
import {
  custodyName,
  isPlainName,
  isUnfinished,
  receiptName,
  type ZoneFolders,
  zone_folder_names,
  zoneFolders,
} from './zone-folders.ts'

export type ZoneSettings = {
  readonly root: string
  readonly max_file_bytes: number
  /** A file counts as whole once nothing has changed it for this long. */
  readonly settle_ms: number
  readonly keep_ms: number
  readonly scanner?: BodyScanner | undefined
}

/** Names of a folder that one look reads; the rest is found by later ones. */
const max_names = 10_000
const max_receipt_bytes = 65_536

export function openZoneFiles(settings: ZoneSettings): LandingZoneFiles {
  const foldersOf = (place: ZonePlace) => zoneFolders(settings.root, place)
  return {
    describe: (place) => relative(settings.root, foldersOf(place).new),
    open: (place) => guardFolders(() => makeFolders(foldersOf(place))),
    findWaiting: (place) => guardFolders(() => findOldest(foldersOf(place).new, settings)),
    take: (place, file, signal) => {
      const { new: from, work } = foldersOf(place)
      const target = join(work, custodyName(file))
      return guardFolders(() => takeCopy(join(from, file.name), target, { ...settings, inode: file.inode, signal }))
    },
    async scan(place, file) {
      const answer = await settings.scanner?.scan(join(foldersOf(place).work, custodyName(file)))
      if (!answer || answer.answer === 'clean') return undefined
      if (answer.answer === 'refused') return { code: 'SCANNER', reason: 'the scanner of the site refused it' }
      throw refuse('unavailable', `files of the landing zone wait: ${answer.detail}`)
    },
    findLanded: (place, name, sha256) => guardFolders(() => readLanded(foldersOf(place).receipts, name, sha256)),
    finish: (place, file, receipt) => guardFolders(() => putAway(foldersOf(place), file, receipt)),
    discard: (place, file) => guardFolders(() => rm(join(foldersOf(place).work, custodyName(file)), { force: true })),
    abandon: (place) => guardFolders(() => moveToQuarantine(foldersOf(place))),
    purge: (place) => guardFolders(() => purgeOld(foldersOf(place), settings.keep_ms)),
  }
}

/** A folder that cannot be used now may be later. The message leaves out its path, which is of the machine. */
export async function guardFolders<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException
    if (isRefusal(error) || syscall === undefined) throw error
    throw refuse('unavailable', `the folders of the landing zone cannot be used: ${code} at ${syscall}`)
  }
}

/** Permissions of folders that are there are those of the person who set them. */
async function makeFolders(folders: ZoneFolders): Promise<void> {
  for (const name of zone_folder_names) await mkdir(folders[name], { recursive: true, mode: 0o700 })
}

async function findOldest(
  folder: string,
  { settle_ms, max_file_bytes }: ZoneSettings,
): Promise<WaitingFile | undefined> {
  const whole_until_ms = Date.now() - settle_ms
  let oldest: { readonly file: WaitingFile; readonly changed_ms: number } | undefined
  let seen = 0
  for await (const { name } of await opendir(folder)) {
    seen += 1
    if (seen > max_names) break
    if (isUnfinished(name)) continue
    const stat = await lstat(join(folder, name)).catch(ignoreMissing)
    if (!stat || stat.ctimeMs > whole_until_ms || (oldest && oldest.changed_ms <= stat.ctimeMs)) continue
    const fault = findFault(name, stat, max_file_bytes)
    oldest = { file: { name, inode: identify(stat), ...(fault && { fault }) }, changed_ms: stat.ctimeMs }
  }
  return oldest?.file
}

function findFault(
  name: string,
  stat: { isFile(): boolean; readonly size: number },
  max_file_bytes: number,
): WaitingFile['fault'] {
  if (!stat.isFile()) return { code: 'NOT_REGULAR', reason: 'it is a link, a folder, a pipe, a socket or a device' }
  if (!isPlainName(name))
    return {
      code: 'BAD_NAME',
      reason: 'its name has other characters than letters, digits, spaces and . _ - ( ) + @ = ,',
    }
  if (stat.size > max_file_bytes)
    return { code: 'TOO_LARGE', reason: `it has ${stat.size} bytes; a file may have ${max_file_bytes}` }
  return undefined
}

async function readLanded(folder: string, name: string, sha256: string): Promise<CarriedReceipt | undefined> {
  const bytes = await readFile(join(folder, receiptName({ number: 0, name }, sha256))).catch(ignoreMissing)
  if (!bytes || bytes.length > max_receipt_bytes) return undefined
  const receipt = parseJsonAs(carriedReceipt, bytes)
  return receipt?.outcome === 'landed' && receipt.sha256 === sha256 ? receipt : undefined
}

/** The receipt is there before the file moves, so that no file lies in quarantine without a reason. */
async function putAway(
  folders: ZoneFolders,
  file: Parameters<LandingZoneFiles['finish']>[1],
  receipt: CarriedReceipt,
): Promise<void> {
  const hasLanded = receipt.outcome === 'landed'
  const name = receiptName(file, hasLanded ? receipt.sha256 : undefined)
  await writeDurablyAsync(join(folders.receipts, name), `${JSON.stringify(receipt, undefined, 2)}\n`, { mode: 0o644 })
  const target = folders[hasLanded ? 'done' : 'quarantine']
  const custody = custodyName(file)
  await rename(join(folders.work, custody), join(target, custody)).catch(ignoreMissing)
  // One that was never taken.
  const waiting = join(folders.new, file.name)
  const stat = await lstat(waiting).catch(ignoreMissing)
  if (stat && identify(stat) === file.inode) await rename(waiting, join(target, custody))
  for (const folder of [target, folders.new, folders.work]) await syncFolderAsync(folder)
}

async function moveToQuarantine({ new: waiting, work, quarantine }: ZoneFolders): Promise<void> {
  for (const folder of [waiting, work]) {
    for (const name of (await readdir(folder).catch(ignoreMissing)) ?? []) {
      const target = `${randomBytes(4).toString('hex')}-${isPlainName(name) ? name : 'unnamed'}`
      await rename(join(folder, name), join(quarantine, target)).catch(ignoreMissing)
    }
  }
  for (const folder of [quarantine, waiting, work]) await syncFolderAsync(folder).catch(ignoreMissing)
}

async function purgeOld({ done, receipts }: ZoneFolders, keep_ms: number): Promise<number> {
  let removed = 0
  for (const folder of [done, receipts]) {
    for (const name of (await readdir(folder)).slice(0, max_names)) {
      const file = join(folder, name)
      const stat = await lstat(file).catch(ignoreMissing)
      if (!stat?.isFile() || stat.mtimeMs > Date.now() - keep_ms) continue
      await unlink(file)
      removed += 1
    }
  }
  return removed
}

export function ignoreMissing(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
}
