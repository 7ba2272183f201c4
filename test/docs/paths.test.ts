// Holds the paths that documents name against the repository: the coverage, the architecture and the guide for contributors.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'vitest'
import { expectNone } from '../support/repository/expect-none.ts'
import { listRepositoryFiles, repositoryRoot } from '../support/repository/source-tree.ts'

const files = listRepositoryFiles()
const root_folders = '(?:adapters|cli|daemon|docs|lenses|profiles|samples|scripts|test)'

/** A path from the root: a file by its ending, or a folder of code, tests or documents. `*` stands for a part of a name. */
const paths = new RegExp(
  String.raw`(?<![\w/.*-])(?:[\w.*-]+/)*[\w.*-]+\.(?:tsx?|mjs|md|json|yaml|txt|py)(?![\w])|(?<![\w/.-])${root_folders}(?:/[\w.*-]+)+`,
  'g',
)

function linesOf(document: string): { readonly text: string; readonly at: string }[] {
  const text = readFileSync(path.join(repositoryRoot, document), 'utf8')
  return text.split('\n').map((line, index) => ({ text: line, at: `${document}:${index + 1}` }))
}

function missingIn(text: string, at: string): string[] {
  return [...text.matchAll(paths)]
    .map(([name]) => name)
    .filter((name) => !exists(name))
    .map((name) => `${at} names ${name}`)
}

test('every path of a row of the coverage exists', () => {
  const rows = linesOf('docs/coverage.md').map(({ text, at }) => ({ cells: text.split('|'), at }))
  expectNone(rows.flatMap(({ cells: [, , where = '', held = ''], at }) => missingIn(`${where} | ${held}`, at)))
})

const decisions = files.filter((file) => file.startsWith('docs/decisions/'))

test.each(['ARCHITECTURE.md', 'CONTRIBUTING.md', 'SECURITY.md', 'docs/testing.md', ...decisions])(
  'every path from the root in %s exists',
  (document) => {
    const from_root = new RegExp(`^${root_folders}/`)
    expectNone(
      linesOf(document).flatMap(({ text, at }) =>
        [...text.matchAll(/`([^`\s]+)`/g)]
          .map(([, name = '']) => name)
          .filter((name) => from_root.test(name) && !/[<{]/.test(name))
          .filter((name) => !exists(name.replace(/\/$/, '')))
          .map((name) => `${at} names ${name}`),
      ),
    )
  },
)

function exists(name: string): boolean {
  if (!name.includes('*')) return files.some((file) => file === name || file.startsWith(`${name}/`))
  const pattern = new RegExp(`^${name.replaceAll('.', '\\.').replaceAll('*', '[^/]*')}(/|$)`)
  return files.some((file) => pattern.test(file))
}
