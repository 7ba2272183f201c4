// Reads an unpacked bundle: follows no link, opens no device, and stops at the limits of a bundle.
import * as fs from 'node:fs'
import path from 'node:path'
import { type BundleContent, type BundleEntry, EntryDigest } from './bundle-entry.ts'
import { bundleLimits } from './bundle-manifest.ts'

const piece_bytes = 1_048_576

type FolderReading = { readonly entries: BundleEntry[]; readonly failures: string[]; bytes: number }

/** Throws what the file system throws where the folder itself cannot be read. */
export function readBundleFolder(folder: string): BundleContent {
  const reading: FolderReading = { entries: [], failures: [], bytes: 0 }
  readFolder(folder, '', 0, reading)
  return { folder: undefined, entries: reading.entries, failures: reading.failures }
}

function readFolder(root: string, relative: string, depth: number, reading: FolderReading): void {
  if (depth > bundleLimits.depth) {
    reading.failures.push(`${relative}: deeper than ${bundleLimits.depth} folders`)
    return
  }
  for (const name of fs.readdirSync(path.join(root, relative)).sort()) {
    if (reading.entries.length >= bundleLimits.entries) {
      if (reading.failures.at(-1) !== tooMany) reading.failures.push(tooMany)
      return
    }
    const at = relative === '' ? name : `${relative}/${name}`
    const stat = fs.lstatSync(path.join(root, at))
    const mode = stat.mode & 0o7777
    if (stat.isDirectory()) {
      reading.entries.push({ path: at, kind: 'folder', mode, size: 0 })
      readFolder(root, at, depth + 1, reading)
    } else if (stat.isFile()) readFile(root, at, mode, reading)
    else reading.entries.push({ path: at, kind: 'other', mode, size: stat.size })
  }
}

const tooMany = `more than ${bundleLimits.entries} entries`

function readFile(root: string, at: string, mode: number, reading: FolderReading): void {
  const flags = fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW | fs.constants.O_NONBLOCK
  let descriptor: number
  try {
    descriptor = fs.openSync(path.join(root, at), flags)
  } catch {
    reading.failures.push(`${at}: cannot be read`)
    return
  }
  try {
    const digest = new EntryDigest(at, fs.fstatSync(descriptor).size)
    const piece = Buffer.allocUnsafe(piece_bytes)
    for (;;) {
      const count = fs.readSync(descriptor, piece)
      if (count === 0) break
      reading.bytes += count
      if (reading.bytes > bundleLimits.bytes) {
        reading.failures.push(`${at}: the bundle is larger than ${bundleLimits.bytes} bytes`)
        return
      }
      digest.add(piece.subarray(0, count))
    }
    reading.entries.push({ path: at, kind: 'file', mode, ...digest.end() })
  } finally {
    fs.closeSync(descriptor)
  }
}
