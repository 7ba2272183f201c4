// The segments of a folder as their reader sees them: those that are whole, oldest first, until they are removed.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { open_extension, sealed_extension } from './segment-names.ts'

export type SegmentFolder = {
  /** Names of whole segments, oldest first. */
  sealed(): Promise<string[]>
  /** Lines and their ends. The last one may have been cut short: `isTorn`. */
  read(name: string): Promise<{ readonly bytes: Buffer; readonly text: string; readonly isTorn: boolean }>
  remove(name: string): Promise<void>
  /** Seals segments that ended writers left open: those whose names begin so, or all. Returns their number. */
  sealAbandoned(name?: string): number
  /** Size of all segments, whole or not. */
  bytes(): Promise<number>
}

/** The folder is made (0700) where there is none. */
export function segmentFolder(dir: string): SegmentFolder {
  fs.mkdirSync(dir, { recursive: true, mode: 0o700 })
  const named = async (ending: string) => (await fs.promises.readdir(dir)).filter((file) => file.endsWith(ending))
  return {
    async sealed() {
      return (await named(sealed_extension)).map((file) => file.slice(0, -sealed_extension.length)).sort()
    },
    async read(name) {
      const bytes = await fs.promises.readFile(join(dir, name + sealed_extension))
      const text = bytes.toString('utf8')
      return { bytes, text, isTorn: text !== '' && !text.endsWith('\n') }
    },
    remove: (name) => fs.promises.rm(join(dir, name + sealed_extension), { force: true }),
    sealAbandoned(name = '') {
      const left = fs.readdirSync(dir).filter((file) => file.startsWith(name) && file.endsWith(open_extension))
      for (const file of left) {
        const path = join(dir, file.slice(0, -open_extension.length))
        fs.renameSync(path + open_extension, path + sealed_extension)
      }
      return left.length
    },
    async bytes() {
      const files = [...(await named(sealed_extension)), ...(await named(open_extension))]
      const sizes = await Promise.all(files.map((file) => readFileSize(join(dir, file))))
      return sizes.reduce((sum, size) => sum + size, 0)
    },
  }
}

/** It may be sealed or removed meanwhile. */
async function readFileSize(path: string): Promise<number> {
  return (await fs.promises.stat(path).catch(() => undefined))?.size ?? 0
}
