// The requests of a DAG repository to a git host, whatever its interface.
import * as z from 'zod'
import type { CommitNote, DagCheck } from '../../../daemon/shared/dag-repository/dag-repository.ts'

/** `check`: name of the status that decides, where the site names one. */
export type HostProject = {
  readonly token: string
  readonly project: string
  readonly check?: string | undefined
}

/** `version`: by which a change names the content that it replaces. */
export type HostFile = { readonly text: string; readonly version: string }

/** `text` undefined: removes the file. `former`: undefined for a file that is new. */
export type HostChange = {
  readonly path: string
  readonly text: string | undefined
  readonly former: string | undefined
}

export type HostCommit = {
  readonly branch: string
  /** Begins the branch at the head of this one. */
  readonly from?: string
  readonly changes: readonly HostChange[]
  readonly note: CommitNote
}

/** `summary`: first line of its message. */
export type HostHead = { readonly commit: string; readonly summary: string }

/** Methods throw as those of `DagRepository` do. */
export interface GitHost {
  readonly kind: 'gitea' | 'gitlab'
  /** The newest commit of a branch; undefined for a branch that there is not. */
  findHead(branch: string, signal?: AbortSignal): Promise<HostHead | undefined>
  /** `ref`: a branch or a commit. */
  findFile(ref: string, path: string): Promise<HostFile | undefined>
  /** `refused`: a file has changed since, or the branch; the reason of the host. */
  commit(commit: HostCommit): Promise<{ readonly commit: string } | { readonly refused: string }>
  /** Does nothing for a branch that there is not. */
  removeBranch(branch: string): Promise<void>
  findCheck(commit: string): Promise<DagCheck>
  close(): void
}

/** Of the answer to a request for a branch, which Gitea and GitLab have alike. */
export const branchAnswer = z
  .object({ commit: z.object({ id: z.string(), message: z.string() }) })
  .transform(({ commit: { id, message } }): HostHead => ({ commit: id, summary: message.split('\n', 1)[0] ?? '' }))
