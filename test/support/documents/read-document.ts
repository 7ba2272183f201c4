// Reads a file of the repository by its path from the root.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { repositoryRoot } from '../repository/source-tree.ts'

export function readDocument(file: string): string {
  return readFileSync(path.join(repositoryRoot, file), 'utf8')
}
