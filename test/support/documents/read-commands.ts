// The commands that a page of documentation prints, by chapter, with the output that it shows: indented blocks with a prompt.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { repositoryRoot } from '../repository/source-tree.ts'

export type PrintedCommand = {
  /** Name before the prompt, such as `alpha`; `#` for root; '' for none. */
  readonly shell: string
  readonly text: string
  /** Lines that follow it in its block, without the indentation; empty if the page shows no output. */
  readonly output: readonly string[]
}

const prompt = /^ {4}([a-z][a-z0-9-]*)?([$#]) (.*)$/
/** README.md prints commands without a prompt. */
const script = /^ {4}((?:dist\/platform|scripts\/\w+) ?.*)$/

/** A comment behind a command is not part of it. */
const withoutComment = (text: string) => text.replace(/ {2,}# .*$/, '').trim()

/** A line ends with a backslash, or inside a quotation. */
const isOpen = (text: string) => text.endsWith('\\') || (text.match(/'/g) ?? []).length % 2 === 1

/** Commands of each chapter, by its heading. */
export function readCommands(document: string): Map<string, PrintedCommand[]> {
  const chapters = new Map<string, PrintedCommand[]>()
  let heading = ''
  let current: { shell: string; text: string; output: string[] } | undefined
  for (const line of readFileSync(path.join(repositoryRoot, document), 'utf8').split('\n')) {
    heading = /^#+ (.*)$/.exec(line)?.[1] ?? heading
    if (current && isOpen(current.text)) {
      current.text += `\n${line}`
      continue
    }
    const [, name = '', mark, typed] = prompt.exec(line) ?? []
    const text = typed ?? script.exec(line)?.[1]
    if (text !== undefined) {
      current = { shell: mark === '#' ? '#' : name, text: withoutComment(text), output: [] }
      chapters.set(heading, [...(chapters.get(heading) ?? []), current])
    } else if (line.startsWith('    ')) current?.output.push(line.slice(4))
    else if (line !== '') current = undefined
  }
  return chapters
}
