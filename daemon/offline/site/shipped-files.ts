// Files that come with the product: beside the bundle in the executable, at the root of the repository from sources.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export function findShippedFolder(name: 'lenses' | 'samples'): string {
  const moduleFolder = dirname(fileURLToPath(import.meta.url))
  const bundled = join(moduleFolder, name)
  return existsSync(bundled) ? bundled : join(moduleFolder, '..', '..', '..', name)
}

/** The invented people of two sites, and which records are one person, as CSV. */
export function readSamplePeople(name: 'alpha' | 'bravo' | 'truth'): string {
  return readFileSync(join(findShippedFolder('samples'), 'people', `${name}.csv`), 'utf8')
}

/** Customers of the branches of a firm, each in a file of its own kind. */
export function readSampleBranch(file: string): Uint8Array {
  return readFileSync(join(findShippedFolder('samples'), 'branches', file))
}
