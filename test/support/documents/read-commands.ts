// The commands that a page of documentation prints, by chapter: lines of an indented block that begin with a prompt.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { repositoryRoot } from '../repository/source-tree.ts'

/** `shell`: name before the prompt, such as `alpha`; `#` for root; '' for none. */
export type PrintedCommand = { readonly shell: string; readonly text: string }

const prompt = /^ {4}([a-z][a-z0-9-]*)?([$#]) (.*)$/
/** README.md prints commands without a prompt. */
const script = /^ {4}((?:dist\/platform|scripts\/\w+) ?.*)$/

/** Commands of each chapter, by its heading. A comment behind a command is not part of it. */
export function readCommands(document: string): Map<string, PrintedCommand[]> {
  const chapters = new Map<string, PrintedCommand[]>()
  let heading = ''
  for (const line of readFileSync(path.join(repositoryRoot, document), 'utf8').split('\n')) {
    heading = /^#+ (.*)$/.exec(line)?.[1] ?? heading
    const [, name = '', mark, typed] = prompt.exec(line) ?? []
    const text = (typed ?? script.exec(line)?.[1])?.replace(/ {2,}# .*$/, '').trim()
    if (text === undefined) continue
    const shell = mark === '#' ? '#' : name
    chapters.set(heading, [...(chapters.get(heading) ?? []), { shell, text }])
  }
  return chapters
}
