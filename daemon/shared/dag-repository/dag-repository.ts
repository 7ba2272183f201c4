// The contract of a DAG repository: a branch with the live DAGs, and a branch for each DAG that awaits its check.
import { part } from '../../kernel/role/part.ts'

/** `uid`: of the object that manages the DAG; `text`: as its author wrote it. */
export type DagFile = {
  readonly uid: string
  /** Name of the file; see `dagFileName`. */
  readonly name: string
  readonly text: string
}

/** A file that was written to the pending path by this commit. */
export type DagProposal = Omit<DagFile, 'text'> & { readonly commit: string }

/** Author, time and summary of a commit. */
export type CommitNote = {
  /** One line. */
  readonly summary: string
  readonly author: string
  readonly now_ms: number
}

export type DagCheckFault = {
  readonly reason: string
  /** Field of an assembled DAG. */
  readonly path?: string
  /** 1-based line of the file. */
  readonly line?: number
}

export type DagCheck =
  | { readonly state: 'pending'; readonly reason?: string }
  | { readonly state: 'passed' }
  | ({ readonly state: 'rejected' } & DagCheckFault)

/** A DAG of the live path, at a commit of the live branch. */
export type LiveDag = { readonly text: string; readonly commit: string }

/**
 * What a method has changed is durable when it resolves, and may be repeated. Throws `Refusal('unavailable')` where the repository
 * does not answer, `Refusal('forbidden')` where it does not accept the token of the site, and `Refusal('wrong_state')` where a git host
 * has no live branch.
 */
export interface DagRepository {
  readonly kind: 'local' | 'gitea' | 'gitlab'
  /**
   * Writes the DAG to the pending path, on a branch of its own, in place of what was pending. Returns the commit; that of before for
   * the same text with the same summary.
   */
  propose(file: DagFile, note: CommitNote): Promise<string>
  /** The result of the check of a commit. */
  check(proposal: DagProposal): Promise<DagCheck>
  /**
   * Writes the DAG to the live path and the catalog beside it, in one commit of the live branch, which it returns; without a
   * commit where both are there already. `superseded`: another content of the DAG was proposed or published since.
   */
  publish(proposal: DagProposal, catalog: string, note: CommitNote): Promise<string | 'superseded'>
  /** Removes a DAG from the live path, with what is pending of it. */
  remove(uid: string, names: readonly string[], note: CommitNote): Promise<void>
  /**
   * At the newest commit of the live branch, or at a former one. Undefined for a DAG that the live path does not have there, and for
   * a commit that there is not.
   */
  read(name: string, commit?: string): Promise<LiveDag | undefined>
  /** Throws as the other methods where the repository does not answer. */
  probe(signal: AbortSignal): Promise<void>
  close(): void
}

export const dagRepositoryPart = part<DagRepository>('dag-repository')
