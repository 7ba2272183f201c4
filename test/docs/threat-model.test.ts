// SECURITY.md answers each class of STRIDE at each boundary that it describes.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { repositoryRoot } from '../support/repository/source-tree.ts'

const text = readFileSync(path.join(repositoryRoot, 'SECURITY.md'), 'utf8')
const [, boundaries = ''] = /\n## Boundaries\n(.*?)\n## /s.exec(text) ?? []
const [, table = ''] = /\n### STRIDE by boundary\n(.*?)\n### /s.exec(boundaries) ?? []
const rows = table
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )

test('each boundary has a row, in the order of its sections', () => {
  const sections = [...boundaries.matchAll(/^### (.+)$/gm)].map(([, title]) => title)
  expect(rows.slice(1).map(([boundary]) => boundary)).toEqual(
    sections.filter((title) => title !== 'STRIDE by boundary'),
  )
})

test('each row answers six classes', () => {
  expect(rows.filter((cells) => cells.length !== 7 || cells.some((cell) => cell === ''))).toEqual([])
})
