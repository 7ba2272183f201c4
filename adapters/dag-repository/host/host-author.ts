// The author of a commit at a git host: the subject by whose request it is, with an address that reaches nobody.
import type { CommitNote } from '../../../daemon/shared/dag-repository/dag-repository.ts'

const longest_name = 100

export function toHostAuthor({ author }: CommitNote): { readonly name: string; readonly email: string } {
  const name = author.replaceAll(/[<>\p{Cc}]/gu, ' ').trim()
  return { name: name.slice(0, longest_name).toWellFormed() || 'unknown', email: 'dags@site.invalid' }
}
