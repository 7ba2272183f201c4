// The book opens anywhere: it is whole, its links lead somewhere, and nothing in it comes from outside.
import { existsSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { repositoryRoot } from '../../test/support/repository/source-tree.ts'
import { renderBook } from './book.mjs'
import { readContents } from './contents.mjs'

let book = ''
beforeAll(() => {
  book = renderBook(repositoryRoot)
})

const valuesOf = (pattern: RegExp) => [...book.matchAll(pattern)].map(([, value = '']) => value)

test('every page of docs has its place', () => {
  const pages = readContents(repositoryRoot).flatMap(({ pages }) => pages.map(({ file }) => file))
  const written = readdirSync(path.join(repositoryRoot, 'docs')).filter((name) => name.endsWith('.md'))
  expect(written.filter((name) => name !== 'README.md' && !pages.includes(`docs/${name}`))).toEqual([])
  expect(new Set(pages).size).toBe(pages.length)
})

test('ids are unique, and every link inside leads to one', () => {
  const ids = valuesOf(/ id="([^"]+)"/g)
  expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([])
  const known = new Set(ids)
  expect(valuesOf(/ href="#([^"]+)"/g).filter((id) => !known.has(id))).toEqual([])
})

test('other links lead to files that lie beside it', () => {
  const files = valuesOf(/ href="([^#"][^"]*)"/g)
  expect(files.filter((file) => !existsSync(path.join(repositoryRoot, 'docs', file)))).toEqual([])
})

test('it has no script, and loads nothing', () => {
  expect(book).toContain(`default-src 'none'; style-src 'unsafe-inline'`)
  expect(valuesOf(/<(script|img|link|iframe|object|embed)\b/g)).toEqual([])
  expect(valuesOf(/(url\(|@import)/g)).toEqual([])
})

test('the same documents make the same book', () => expect(renderBook(repositoryRoot)).toBe(book))
