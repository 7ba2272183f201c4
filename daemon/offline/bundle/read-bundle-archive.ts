// Reads the tar archive of a bundle without unpacking it. Only what `scripts/release` writes is accepted: plain files and folders of ustar.
import * as fs from 'node:fs'
import { type BundleContent, type BundleEntry, EntryDigest } from './bundle-entry.ts'
import { bundleLimits } from './bundle-manifest.ts'

const block_bytes = 512
/** A multiple of the block. */
const piece_bytes = 1_048_576

type TarHeader = {
  readonly name: string
  readonly mode: number
  readonly size: number
  readonly kind: BundleEntry['kind']
}

/** Stops at the first fault of the archive, since what follows could be read in several ways. */
export function readBundleArchive(file: string): BundleContent {
  const descriptor = fs.openSync(file, 'r')
  const entries: BundleEntry[] = []
  const folders = new Set<string>()
  try {
    const fault = readEntries(descriptor, entries, folders)
    const [folder = ''] = folders
    const failures = fault === undefined && folders.size === 1 ? [] : [fault ?? 'the archive must be of one folder']
    return { folder, entries, failures }
  } finally {
    fs.closeSync(descriptor)
  }
}

/** Adds what it reads; returns the fault that ends it. */
function readEntries(descriptor: number, entries: BundleEntry[], folders: Set<string>): string | undefined {
  const seen = new Set<string>()
  let bytes = 0
  for (;;) {
    const block = readExactly(descriptor, block_bytes)
    if (!block) return 'the archive is cut off'
    if (isZero(block)) return findTrailingFault(descriptor)
    const header = parseTarHeader(block)
    if (typeof header === 'string') return header
    const [folder = '', ...rest] = header.name.replace(/\/$/, '').split('/')
    if ([folder, ...rest].some((part) => part === '' || part === '.' || part === '..'))
      return `${JSON.stringify(header.name)}: leaves the folder of the bundle`
    folders.add(folder)
    const path = rest.join('/')
    if (seen.has(path)) return `${path}: is in the archive twice`
    if (seen.add(path).size > bundleLimits.entries) return `more than ${bundleLimits.entries} entries`
    bytes += header.size
    if (bytes > bundleLimits.bytes) return `${path}: the bundle is larger than ${bundleLimits.bytes} bytes`
    const digest = new EntryDigest(path, header.size)
    if (!readContent(descriptor, header.size, digest)) return `${path}: the archive is cut off`
    const { kind, mode } = header
    if (path === '' && kind === 'folder') continue
    entries.push({ path, mode, kind, ...(kind === 'file' ? digest.end() : { size: header.size }) })
  }
}

/** Also reads the padding up to the next block, which must be zero: nothing may hide in it. */
function readContent(descriptor: number, size: number, digest: EntryDigest): boolean {
  for (let left = size; left > 0; ) {
    const count = Math.min(left, piece_bytes)
    const piece = readExactly(descriptor, count)
    if (!piece) return false
    digest.add(piece)
    left -= count
  }
  const padding = readExactly(descriptor, (block_bytes - (size % block_bytes)) % block_bytes)
  return padding !== undefined && isZero(padding)
}

function findTrailingFault(descriptor: number): string | undefined {
  for (let total = 0; total <= piece_bytes; total += block_bytes) {
    const block = readExactly(descriptor, block_bytes)
    if (!block) return total >= block_bytes ? undefined : 'the archive is cut off'
    if (!isZero(block)) return 'something follows the end of the archive'
  }
  return 'something follows the end of the archive'
}

/** The header of a file or folder; the fault of any other, such as a link, a device, or an extension of the format. */
function parseTarHeader(block: Buffer): TarHeader | string {
  const text = (from: number, length: number) => {
    const field = block.subarray(from, from + length)
    const end = field.indexOf(0)
    return field.subarray(0, end === -1 ? length : end).toString('latin1')
  }
  const sum = block.reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 32 : byte), 0)
  if (parseOctal(text(148, 8)) !== sum) return 'the archive has a damaged header'
  if (block.subarray(257, 265).toString('latin1') !== 'ustar\x0000') return 'the archive is not in the format ustar'
  const [prefix, base] = [text(345, 155), text(0, 100)]
  const name = prefix === '' ? base : `${prefix}/${base}`
  const [mode, size] = [parseOctal(text(100, 8)), parseOctal(text(124, 12))]
  if (mode === undefined || size === undefined) return `${JSON.stringify(name)}: has a damaged header`
  const kind = { '0': 'file', '5': 'folder' }[text(156, 1)] as TarHeader['kind'] | undefined
  if (!kind) return `${JSON.stringify(name)}: is neither a file nor a folder`
  if (kind === 'folder' && size !== 0) return `${JSON.stringify(name)}: has a damaged header`
  return { name, mode, size, kind }
}

function parseOctal(field: string): number | undefined {
  const [, digits] = /^([0-7]{1,11}) ?$/.exec(field) ?? []
  return digits === undefined ? undefined : Number.parseInt(digits, 8)
}

function readExactly(descriptor: number, count: number): Buffer | undefined {
  const bytes = Buffer.alloc(count)
  for (let at = 0; at < count; ) {
    const read = fs.readSync(descriptor, bytes, at, count - at, null)
    if (read === 0) return undefined
    at += read
  }
  return bytes
}

function isZero(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0)
}
