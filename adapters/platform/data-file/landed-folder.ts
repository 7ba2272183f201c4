// Opens the folder of a landed dataset as one data file: its description, followed by its Parquet files.
import { createHash } from 'node:crypto'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { dataset_manifest_name, type LandedDataset, landedDataset } from '../../../daemon/kernel/data/landed-dataset.ts'
import { type DataFile, DataFileError, openDataFile } from './data-file.ts'

/** A dataset that was landed; its bytes are those of the description and of all parts, in order. */
export type LandedFolder = DataFile & {
  /** Parquet files of the rows. */
  readonly parts: readonly DataFile[]
}

/** As large as 4,096 columns with long names make it. */
const max_manifest_bytes = 67_108_864

/** Whether the path is a folder with the description of a dataset. */
export function isLandedFolder(path: string): boolean {
  try {
    return statSync(join(path, dataset_manifest_name), { throwIfNoEntry: false })?.isFile() === true
  } catch {
    return false
  }
}

/**
 * Throws `DataFileError` where the description is not one, or not of this SHA-256, or a file is missing or of another size. The
 * caller closes it.
 */
export function openLandedFolder(folder: string, digest?: string): LandedFolder {
  const opened: DataFile[] = []
  const open = (name: string): DataFile => {
    const file = openDataFile(join(folder, name))
    opened.push(file)
    return file
  }
  try {
    const manifest = open(dataset_manifest_name)
    const parts = readManifest(manifest, digest).files.map(({ name, bytes }) => openPart(open, name, bytes))
    return joinFiles([manifest, ...parts], parts)
  } catch (error) {
    for (const file of opened) file.close()
    throw error
  }
}

function readManifest(file: DataFile, digest?: string): LandedDataset {
  const damaged = new DataFileError(
    `cannot be read: ${dataset_manifest_name} is not the description of a dataset`,
    'land it again',
  )
  if (file.size > max_manifest_bytes) throw damaged
  try {
    const bytes = new Uint8Array(file.read(0, file.size))
    if (digest !== undefined && createHash('sha256').update(bytes).digest('hex') !== digest) throw otherDataset()
    return landedDataset.parse(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)))
  } catch (error) {
    throw error instanceof DataFileError ? error : damaged
  }
}

const otherDataset = () => new DataFileError('cannot be read: it was replaced by another dataset', 'name that one')

function openPart(open: (name: string) => DataFile, name: string, bytes: number): DataFile {
  try {
    const file = open(name)
    if (file.size === bytes) return file
    throw new DataFileError(
      `cannot be read: its file ${name} has ${file.size} bytes, and landed with ${bytes}`,
      'land it again',
    )
  } catch (error) {
    if (error instanceof DataFileError && !error.message.includes(name))
      throw new DataFileError(`cannot be read: its file ${name} ${error.message}`, error.remedy)
    throw error
  }
}

function joinFiles(files: readonly DataFile[], parts: readonly DataFile[]): LandedFolder {
  return {
    parts,
    size: files.reduce((sum, { size }) => sum + size, 0),
    version: files.map(({ version }) => version).join('\n'),
    read(start, end) {
      const bytes = new Uint8Array(end - start)
      fillAcross(files, bytes, start)
      return bytes.buffer
    },
    fill: (into, start) => fillAcross(files, into, start),
    text: () => {
      throw new DataFileError('cannot be read as text: it is a landed dataset', 'name its folder without --data-format')
    },
    checkUnchanged() {
      for (const file of files) file.checkUnchanged()
    },
    close() {
      for (const file of files) file.close()
    },
  }
}

function fillAcross(files: readonly DataFile[], into: Uint8Array, start: number): void {
  const end = start + into.length
  let before = 0
  for (const file of files) {
    const [from, to] = [Math.max(start, before), Math.min(end, before + file.size)]
    if (from < to) file.fill(into.subarray(from - start, to - start), from - before)
    before += file.size
  }
}
