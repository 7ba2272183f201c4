// Reads all files of a folder that a running process writes: files may vanish between the listing and the reading.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'

/** Enough that a process which replaces its files all the time still leaves one listing whole. */
const max_listings = 100

/** The contents of the files in the folder, and in those below, of one listing of which no file has vanished. */
export function readFolder(folder: string): Buffer[] {
  for (let listing = 1; ; listing++) {
    try {
      return readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .map((name) => path.join(folder, name))
        .filter((file) => statSync(file).isFile())
        .map((file) => readFileSync(file))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || listing === max_listings) throw error
    }
  }
}
