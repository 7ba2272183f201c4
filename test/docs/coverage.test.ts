// Holds docs/coverage.md against the repository: every file, folder and pattern that a row names exists.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'vitest'
import { expectNone } from '../support/repository/expect-none.ts'
import { listRepositoryFiles, repositoryRoot } from '../support/repository/source-tree.ts'

const files = listRepositoryFiles()
const rows = readFileSync(path.join(repositoryRoot, 'docs/coverage.md'), 'utf8')
  .split('\n')
  .map((text, at) => ({ line: at + 1, cells: text.split('|') }))
  .filter(({ cells }) => cells.length >= 5)

/** A path from the root: a file by its ending, or a folder of code, tests or documents. */
const path_pattern =
  /(?<![\w/.*-])(?:[\w.*-]+\/)*[\w.*-]+\.(?:tsx?|mjs|md|json|yaml|txt|py)(?![\w])|(?<![\w/.-])(?:adapters|cli|daemon|docs|lenses|profiles|samples|scripts|test)(?:\/[\w.*-]+)+/g

test('every path of a row exists', () => {
  expectNone(
    rows.flatMap(({ line, cells: [, , where = '', held = ''] }) =>
      [...`${where} | ${held}`.matchAll(path_pattern)]
        .map(([name]) => name)
        .filter((name) => !exists(name))
        .map((name) => `docs/coverage.md:${line} names ${name}`),
    ),
  )
})

function exists(name: string): boolean {
  if (!name.includes('*')) return files.some((file) => file === name || file.startsWith(`${name}/`))
  const pattern = new RegExp(`^${name.replaceAll('.', '\\.').replaceAll('*', '[^/]*')}(/|$)`)
  return files.some((file) => pattern.test(file))
}
