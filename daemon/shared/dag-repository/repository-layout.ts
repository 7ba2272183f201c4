// Where a DAG repository has what: its live branch, and paths within a branch.
import * as z from 'zod'
import { isTestFile } from './dag-file-name.ts'

const segment = /^(?!\.{1,2}$)(?!\.git$)[A-Za-z0-9_.-]{1,100}$/
/** A path within a branch: plain segments, which no step leads out of. */
export const repositoryPath = z
  .string()
  .max(400)
  .refine((text) => text.split('/').every((part) => segment.test(part)), 'must be plain names, joined by /')

/** The path of a project at a git host: its owner or groups, and its name. */
export const projectPath = repositoryPath.refine((text) => text.includes('/'), 'must be OWNER/NAME')

/** Branches of pending DAGs, one for each object. */
const pending_branches = 'pending'

/** A name that git accepts, and that no branch of a pending DAG has or needs as its folder. */
export const repositoryBranch = z
  .string()
  .max(200)
  .refine(
    (text) =>
      text.split('/').every((part) => /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/.test(part) && !/\.\.|\.lock$|\.$/.test(part)),
    'must be a name of a branch: letters, digits and _ . - /',
  )
  .refine((text) => text.split('/')[0] !== pending_branches, 'must not be that of pending DAGs: pending')

export type RepositoryLayout = {
  readonly branch: string
  /** Folder of live DAGs. */
  readonly dag_path: string
  /** The same for DAGs of journey tests. */
  readonly test_path: string
  /** Folder of a DAG on its pending branch. */
  readonly pending_path: string
  /** File of the catalog of operators. */
  readonly catalog_path: string
}

/** Where a live DAG is on the branch, by the name of its file. */
export function livePath({ dag_path, test_path }: RepositoryLayout, name: string): string {
  return `${isTestFile(name) ? test_path : dag_path}/${name}`
}

export function pendingBranch(uid: string): string {
  return `${pending_branches}/${uid}`
}
